import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { defineArea } from '#kernel'
import { assets, pageAnswer } from '#kit'
import { libraries, pageOf } from './page.ts'

/** The paths of pages and of their files. */
const at = '/dashboard'

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
