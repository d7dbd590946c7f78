import path from 'node:path'
import { answer, answers, defineArea, jsonOrEvents } from 'switchyard'
import { assets, fileAnswer, pageAnswer } from 'switchyard/kit'
import { z } from 'zod'

const notice = z.object({ id: z.string(), text: z.string() })
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

async function* events(notices: readonly z.infer<typeof notice>[]) {
  for (const data of notices) yield { event: 'notice', data }
}

export default defineArea({
  settings: z.strictObject({}),

  async setup({ memory, route }) {
    const notices = memory('notices', () => new Map<string, string>())
    const all = () => Array.from(notices, ([id, text]) => ({ id, text }))
    const files = await assets(path.join(import.meta.dirname, 'public'), '/noticeboard/assets')
    route(files.route)

    route({
      method: 'get',
      path: '/noticeboard',
      access: 'public',
      summary: 'The notices, to look at',
      returns: pageAnswer,
      handle: () => ({
        html: `<!doctype html><link rel="stylesheet" href="${files.url('board.css')}"><h1>Notices</h1>
          ${all()
            .map(({ text }) => `<p>${escaped(text)}</p>`)
            .join('')}`,
        noindex: true,
      }),
    })

    route({
      method: 'get',
      path: '/noticeboard/notices.txt',
      access: 'public',
      summary: 'The notices, to keep',
      returns: fileAnswer,
      handle: () => ({
        body: Buffer.from([...notices.values()].join('\n')),
        type: '.txt',
        name: 'notices.txt',
      }),
    })

    route({
      method: 'put',
      path: '/api/noticeboard/{id}',
      access: 'admin',
      summary: 'Put up a notice, or change one',
      params: z.object({ id: z.string() }),
      body: z.strictObject({ text: z.string() }),
      returns: answers({ 200: notice, 201: notice }),
      handle({ params: { id }, body: { text } }) {
        const isNew = !notices.has(id)
        notices.set(id, text)
        return answer(isNew ? 201 : 200, { id, text })
      },
    })

    route({
      method: 'post',
      path: '/api/noticeboard/list',
      access: 'any',
      summary: 'The notices, at once or one by one',
      reads: true,
      body: z.strictObject({ stream: z.boolean().default(false) }),
      returns: jsonOrEvents(z.object({ notices: z.array(notice) })),
      handle: ({ body: { stream } }) => (stream ? events(all()) : { notices: all() }),
    })
  },
})
