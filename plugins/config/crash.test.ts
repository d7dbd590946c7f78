import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GatewayProcess, startProcess } from '../../test/process.ts'

const adminKey = 'sy_admin_crash_0123456789'

async function api(
  gateway: GatewayProcess,
  method: string,
  at: string,
  body?: unknown,
): Promise<{ hash: string }> {
  const response = await fetch(`${gateway.url}/api/config${at}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as { hash: string }
}

/** Keys of four sections, with a word in each. */
const everywhere = (word: 'left' | 'right') => ({
  version: 1,
  sections: {
    modules: { outputcap: { enabled: word === 'left', config: { default_max_tokens: word.length } } },
    bindings: { 'outputcap/docs': { config: { default_max_tokens: word.length } } },
    routes: { table: [{ match: word, provider: 'openai' }] },
    guardrails: Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`gr_${n}`, { name: word, pattern: word, action: 'log' }]),
    ),
  },
})

test('a gateway that is killed while it takes in snapshots has the whole of one when it is back', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-config-crash-'))
  const start = () =>
    startProcess({ SERVICE_DATA_DIR: path.join(folder, 'data'), SERVICE_ADMIN_KEY: adminKey })
  const take = (gateway: GatewayProcess, word: 'left' | 'right') =>
    api(gateway, 'POST', '/import', { snapshot: everywhere(word), mode: 'replace' })
  let gateway = await start()
  try {
    const hashes: string[] = [(await take(gateway, 'left')).hash, (await take(gateway, 'right')).hash]
    expect(new Set(hashes).size).toBe(2)
    for (let round = 0; round < 5; round += 1) {
      let taken = 0
      const { promise: deep, resolve } = Promise.withResolvers<void>()
      const running = gateway
      const lanes = (['left', 'right'] as const).map(async (word) => {
        for (;;) {
          await take(running, word)
          taken += 1
          if (taken > round * 2) resolve()
        }
      })
      const ended = Promise.allSettled(lanes)
      await deep
      await gateway.end('SIGKILL')
      await ended
      gateway = await start()
      expect(hashes).toContain((await api(gateway, 'GET', '')).hash)
    }
  } finally {
    await gateway.end('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}, 120_000)
