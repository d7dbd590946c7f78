import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../../kernel/config.ts'
import { explain } from '../../../kernel/plugin/manifest.ts'
import { type Check, failed, ok } from './result.ts'

/** Whether the gateway could listen, or one does already. */
export async function checkPort({ host, port }: Config): Promise<{ check: Check; running: boolean }> {
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
    const message = port === 0 ? 'A free one will be taken.' : `${port} on ${host} is free.`
    return { check: ok('port', message), running: false }
  } catch (error) {
    const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    if (!inUse) return { check: failed('port', explain(error)), running: false }
    if (await answers(urlOf({ host, port }))) {
      return { check: ok('port', `A gateway listens on ${port} already.`), running: true }
    }
    const message = `${port} on ${host} is in use by something else. Stop it, or choose another with SERVICE_PORT.`
    return { check: failed('port', message), running: false }
  } finally {
    server.close()
  }
}

/** Whether one of ours listens at a URL: its answers carry ids as ours do. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) })
    return response.ok && response.headers.get('x-request-id')?.startsWith('req_') === true
  } catch {
    return false
  }
}

/** Where a gateway with this configuration listens. */
export function urlOf({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
