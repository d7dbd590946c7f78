import { type CallForm, chatCall } from './call-form.ts'
import { NodeProcess, SERVER_CORE } from './process.ts'
import { RequestTemplate } from './request.ts'
import type { Transport } from './servers/bare.ts'

/** A server under test, up and ready. */
export interface Target {
  readonly name: string
  readonly port: number
  readonly process: NodeProcess
  /** Sent with every request beside the usual ones. */
  readonly headers: Readonly<Record<string, string>>
  /** What it is asked; chat without it. */
  readonly call?: CallForm
  stop(): Promise<void>
}

/** What a target is asked, unless it says otherwise. */
export const callOf = ({ call = chatCall() }: Pick<Target, 'call'>): CallForm => call

/** node:http and undici, nothing else. */
export function startBare(upstreamPort: number, transport: Transport = 'dispatch'): Promise<Target> {
  return startServer(`bare ${transport}`, 'servers/bare.ts', [origin(upstreamPort), transport])
}

/** Koa and undici, JSON decoded and encoded both ways. */
export function startKoa(upstreamPort: number): Promise<Target> {
  return startServer('koa', 'servers/koa.ts', [origin(upstreamPort)])
}

/** The fake upstream itself, without anything between: what the load and the upstream can do at most. */
export function direct(upstream: NodeProcess, port: number): Target {
  return { name: 'direct', port, process: upstream, headers: {}, stop: async () => {} }
}

async function startServer(name: string, file: string, args: readonly string[]): Promise<Target> {
  const process = new NodeProcess({ file: new URL(file, import.meta.url).pathname, args, core: SERVER_CORE })
  const port = await process.receive('port')
  return { name, port, process, headers: { authorization: 'Bearer sk-bench' }, stop: () => process.stop() }
}

export function origin(port: number): string {
  return `http://127.0.0.1:${port}`
}

/** Throws, with what the target said, unless it answers a plain call as the upstream does: figures of refusals mislead. */
export async function verify(target: Target): Promise<void> {
  const [, body = ''] = RequestTemplate.build(callOf(target), {}).bytes.toString().split('\r\n\r\n')
  const response = await fetch(origin(target.port) + callOf(target).path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers },
    body,
  })
  const text = await response.text()
  if (response.ok && text.includes(callOf(target).sign)) return
  throw new Error(`${target.name} answered a plain call with ${response.status}: ${text.slice(0, 500)}`)
}
