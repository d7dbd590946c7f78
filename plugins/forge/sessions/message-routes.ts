import { z } from 'zod'
import { type Context, jsonOrEvents, type ServerEvent, tooLarge } from '#kernel'
import { callProblem, listed, listOf, listQuery, storedPage } from '#kit'
import type { Settings } from '../settings.ts'
import { newMessage } from './input.ts'
import { byId, findOwnSession, findSession, sessionsPath } from './routes.ts'
import { messageItem, shownMessage } from './shown.ts'
import type { Exchanged, Talk, Talks } from './talks.ts'

const path = `${sessionsPath}/{id}/messages`

const exchanged = z.object({ user: messageItem, assistant: messageItem })

/** The messages of sessions, and to send one. */
export function addMessageRoutes(
  { route, settings }: Pick<Context<Settings>, 'route' | 'settings'>,
  talks: Talks,
): void {
  const { store, json } = talks

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The messages of a session, the oldest first',
    params: byId,
    query: listQuery,
    returns: listOf('messages', messageItem),
    throws: [403, 404],
    async handle({ params: { id }, query, principal }) {
      await findSession(talks, id, principal)
      const { items: rows, ...page } = await storedPage(query, (window) => store.messages(id, window))
      const items = await Promise.all(rows.map((row) => shownMessage(json, row)))
      return listed('messages', { ...page, items }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Send a message, and get it with the answer of the model; with `stream: true` as events',
    params: byId,
    body: newMessage,
    returns: jsonOrEvents(exchanged),
    events: [
      { event: 'message', data: messageItem },
      { event: 'delta', data: z.object({ content: z.string() }) },
      { event: 'done', data: exchanged },
      { event: 'error', data: z.object({ code: z.string(), message: z.string() }) },
    ],
    throws: [402, 403, 404, 409, 413, 429, 500, 502, 503, 504],
    async handle({ params: { id }, body: { content, stream }, principal, ip, signal }) {
      await findOwnSession(talks, id, principal)
      if (Buffer.byteLength(JSON.stringify(content)) > settings.max_input_bytes)
        throw tooLarge(`A message may have ${settings.max_input_bytes} bytes.`, { param: 'content' })
      const sender = { principal: principal!, ip, signal }
      if (stream) return events(talks.talk(id, content, sender, true))
      return shownExchange(await talks.say(id, content, sender))
    },
  })

  const shownExchange = async ({ user, assistant }: Exchanged) => ({
    user: await shownMessage(json, user),
    assistant: await shownMessage(json, assistant),
  })

  async function* events(talk: AsyncIterable<Talk>): AsyncGenerator<ServerEvent> {
    try {
      for await (const happened of talk) {
        const { event } = happened
        if (event === 'message') yield { event, data: await shownMessage(json, happened.message) }
        else if (event === 'delta') yield { event, data: { content: happened.text } }
        else yield { event, data: await shownExchange(happened.exchanged) }
      }
    } catch (error) {
      yield { event: 'error', data: callProblem(error) }
    }
  }
}
