import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message as a receiver of webhooks got it. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly at: number
}

/** What a receiver answers; nothing at all with `hang`. */
export interface Answered {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly hang?: boolean
}

/** A receiver of webhooks, which answers each path as it is told to, 204 by default. */
export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  on(path: string): Received[]
  answer(path: string, answered: Answered): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const answers = new Map<string, Answered>()
  const hanging = new Set<ServerResponse>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url: path = '', headers } = request
    received.push({ path, headers, body: Buffer.concat(chunks).toString(), at: performance.now() })
    const { status = 204, headers: said = {}, hang = false } = answers.get(path) ?? {}
    if (hang) hanging.add(response)
    else response.writeHead(status, said).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    on: (path) => received.filter((one) => one.path === path),
    answer: (path, answered) => void answers.set(path, answered),
    async close() {
      for (const response of hanging) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
