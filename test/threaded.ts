import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, type ClientRequest, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import { adminKey } from './harness.ts'
import { startProcess } from './process.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }

/** A call that was sent. */
export interface Sent {
  readonly request: ClientRequest
  /** What came back once the connection is closed; the status is 0 when it was cut off. */
  readonly answer: Promise<{ readonly status: number; readonly text: string }>
}

/** A gateway with several threads, in a process of its own, whose provider is the fake one. */
export interface ThreadedGateway {
  readonly upstream: Upstream
  /** A chat on a connection of its own, which the system gives to any thread. */
  chat(body: object, more?: Readonly<Record<string, string>>): Sent
  /** Another call, as a chat is sent. */
  post(at: string, body: object): Sent
  /** The body of the answer to a management request. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  api(method: string, at: string, body?: object): Promise<any>
  /** Kills it with SIGKILL, and starts it again with what is on disk. */
  killAndStart(): Promise<void>
  close(): Promise<void>
}

/** Starts one; `config` is what `service.yaml` has beside threads, key and provider. */
export async function startThreaded(threads: number, config: object): Promise<ThreadedGateway> {
  const upstream = await startUpstream()
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-threads-'))
  const settings = {
    admin_key: adminKey,
    server: { threads },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    ...config,
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  let gateway = await startProcess({}, folder)
  return {
    upstream,
    chat: (body, more) => send(`${gateway.url}/v1/chat/completions`, body, more),
    post: (at, body) => send(gateway.url + at, body),
    async api(method, at, body) {
      const response = await fetch(gateway.url + at, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return response.json()
    },
    async killAndStart() {
      await gateway.end('SIGKILL')
      gateway = await startProcess({}, folder)
    },
    async close() {
      await gateway.end('SIGKILL')
      await upstream.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function send(url: string, body: object, more: Readonly<Record<string, string>> = {}): Sent {
  const { promise: answer, resolve } = Promise.withResolvers<{ status: number; text: string }>()
  const options = { method: 'POST', headers: { ...headers, ...more }, agent: new Agent() }
  const sent = request(url, options, (incoming) => {
    let text = ''
    incoming.setEncoding('utf8').on('data', (some: string) => {
      text += some
    })
    incoming.on('error', () => {})
    incoming.on('close', () => resolve({ status: incoming.statusCode ?? 0, text }))
  })
  sent.on('error', () => resolve({ status: 0, text: '' }))
  sent.end(JSON.stringify(body))
  return { request: sent, answer }
}
