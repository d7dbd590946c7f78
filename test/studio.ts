import { beforeEach } from 'vitest'
import { startGateway } from './harness.ts'
import { shared } from './shared.ts'
import { startUpstream } from './upstream/index.ts'

/** A gateway for the tests of a file, whose provider is the fake one, with what these ask of the studio. */
export function startStudio() {
  const parts = shared(async () => {
    const upstream = await startUpstream()
    const gateway = await startGateway({ upstream })
    return {
      upstream,
      gateway,
      ada: await gateway.signUp('ada'),
      bob: await gateway.signUp('bob'),
      async close() {
        await gateway.close()
        await upstream.close()
      },
    }
  })
  beforeEach(() => parts.upstream.reset())
  return {
    parts,
    /** A request with Ada's key, unless another is given. */
    api: (method: string, at: string, body?: unknown, key = parts.ada.key) =>
      parts.gateway.api(method, `/api/studio${at}`, body, key),
    asAdmin: (method: string, at: string, body?: unknown) =>
      parts.gateway.api(method, `/api/studio${at}`, body, parts.gateway.adminKey),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: of a body of any shape
export const refusalOf = ({ status, body }: { status: number; body: any }) => [status, body.error?.param]
