import type { TestGateway } from './harness.ts'

/** Switches every module off, for tests of what lies around the chain: nothing retries, caches or rests a key then. */
export async function bareChain(gateway: TestGateway): Promise<void> {
  const { body } = await gateway.api('GET', '/api/proxy/modules?enabled=true&limit=500')
  const modules = body.modules.map(({ name }: { name: string }) => name)
  if (modules.length === 0) return
  const bulk = await gateway.api('POST', '/api/proxy/modules/bulk', { modules, enabled: false })
  if (bulk.body.status !== 'ok') throw new Error(JSON.stringify(bulk.body))
}
