import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { load } from '../../kernel/loader.ts'
import { discover } from '../../kernel/manifest.ts'
import type { ModuleDefinition } from '../../kernel/plugin.ts'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'
import { readExamples, runExample } from './example.ts'
import { undescribed } from './schema.ts'
import { trackTimers } from './timers.ts'

const found = await discover(path.resolve('modules'), 'builtin')

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  const sound = found.filter(({ problem }) => !problem)
  for (const { id } of sound) await gateway.kernel.registry.change(id, { enabled: false })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

describe.each(found)('module $id', ({ id, folder, entry, manifest, problem }) => {
  const registry = () => gateway.kernel.registry
  const definition = async () => (await load(entry!)) as ModuleDefinition
  const examples = () => readExamples(folder)

  test('has a sound manifest', () => {
    expect(problem).toBeUndefined()
    expect(manifest?.kind).toBe('module')
  })

  test('accepts no settings at all, and refuses unknown ones', async () => {
    const { settings } = await definition()
    expect(settings.safeParse({}).success).toBe(true)
    expect(settings.safeParse({ nobody_knows_this: 1 }).success).toBe(false)
  })

  test('describes every setting', async () => {
    const { settings } = await definition()
    expect(undescribed(z.toJSONSchema(settings, { io: 'input' }))).toEqual([])
  })

  test('gives back every timer and listener', async () => {
    const [example] = await examples()
    await registry().change(id, { enabled: false })
    const timers = trackTimers()
    for (let n = 0; n < 5; n += 1) {
      await registry().change(id, { enabled: true, config: example!.config })
      await registry().change(id, { enabled: false })
    }
    await vi.waitFor(() => expect(timers.left()).toBe(0))
    timers.restore()
  })

  test('does what its examples say, whole and streamed at every cut', async () => {
    for (const example of await examples()) {
      for (const mode of example.modes) {
        await fresh(example.config)
        await runExample(example, mode, gateway, upstream).catch((error: unknown) => {
          throw new Error(`${example.title} (${mode}): ${(error as Error).message}`, { cause: error })
        })
      }
    }
  })

  test('makes a difference: its first example fails without it', async () => {
    const [example] = await examples()
    await registry().change(id, { enabled: false })
    await expect(runExample(example!, example!.modes[0]!, gateway, upstream)).rejects.toThrow()
  })

  test('leaves a stream alone that runs while it is switched off', async () => {
    const [example] = await examples()
    await fresh(example!.config)
    const words = Array.from({ length: 12 }, (_, n) => `word${n} `)
    upstream.reset()
    upstream.reply({ content: words, gapMs: 5 })
    const response = await ask({
      messages: [{ role: 'user', content: 'count' }],
      stream: true,
      max_tokens: 500,
    })
    await registry().change(id, { enabled: false })
    const text = await response.text()
    if (response.status !== 200 || upstream.requests.length === 0) return
    expect(contentOf(text)).toBe(words.join(''))
    expect(text).toMatch(/data: \[DONE\]\s*$/)
  })

  async function fresh(config: Record<string, unknown>): Promise<void> {
    const cleared = Object.fromEntries(
      Object.keys(registry().get(id).stored?.config ?? {}).map((key) => [key, null]),
    )
    await registry().change(id, { enabled: false, config: cleared })
    await registry().change(id, { enabled: true, config })
  }
})

const ask = (body: Record<string, unknown>): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', ...body }),
  })

function contentOf(text: string): string {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? '')
    .join('')
}
