import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { defineArea, type SentForm } from '#kernel'
import { assets, pageAnswer } from '#kit'
import { libraries, pageOf } from './page.ts'

/** The paths of pages and of their files. */
const at = '/dashboard'

/** Leads a browser to a path. */
const lead: SentForm<string> = {
  mediaType: 'text/plain',
  send(response, path) {
    response.status = 302
    response.set('location', path)
    response.body = `See ${path}`
  },
}

/**
 * Pages that run in a browser and ask the gateway's own API for all they show, with the session of whoever signed in: what a key
 * may not do, its dashboard may not do either.
 */
export default defineArea({
  settings: z.strictObject({}),
  async setup({ route }) {
    const files = await assets(fileURLToPath(new URL('./web', import.meta.url)), `${at}/assets`, libraries())
    const page = pageOf(files)
    route(files.route)
    route({
      method: 'get',
      path: '/',
      access: 'public',
      summary: 'Leads a browser to the dashboard',
      returns: lead,
      handle: () => at,
    })
    for (const path of [at, `${at}/{+page}`])
      route({
        method: 'get',
        path,
        access: 'public',
        summary: 'The dashboard, a page for browsers',
        ...(path !== at && { params: z.object({ page: z.string() }) }),
        returns: pageAnswer,
        handle: () => page,
      })
  },
})
