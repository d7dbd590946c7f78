import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask, textOf } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { modules: { codefence: { enabled: true } } } })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const configure = async (config: object): Promise<void> => {
  await gateway.module('codefence', { config: null })
  await gateway.module('codefence', { config })
}
const body = (stream: boolean) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Write code.' }],
  stream,
})

async function answered(content: string, stream = false) {
  upstream.reply({ content, splitBytes: 3 })
  const answer = await ask(gateway, { body: body(stream) })
  const findings = async () => {
    const path = `/api/observe/traces/${answer.headers.get('x-trace-id')}`
    await expect.poll(async () => (await gateway.api('GET', path)).status).toBe(200)
    return (await gateway.api('GET', path)).body.guardrails
  }
  return { ...answer, text: textOf(answer.body), findings }
}

const fenced = (label: string, code: string): string => `\`\`\`${label}\n${code}\n\`\`\`\n`
const wipes = `So:\n\n${fenced('bash', 'ls\nrm -rf /\nls')}Done.`

describe.each([false, true])('streamed: %s', (stream) => {
  test('dangerous code passes with a note in the trace', async () => {
    await configure({})
    const { text, headers, findings } = await answered(wipes, stream)
    expect(text).toBe(wipes)
    expect(headers.get('x-code-findings')).toBe(stream ? null : 'deletion;high')
    const found = { module: 'codefence', type: 'policy', label: 'deletion', severity: 'high', action: 'warn' }
    expect(await findings()).toMatchObject([found])
  })

  test('the dangerous part is taken out, and the rest stays', async () => {
    await configure({ action: 'redact' })
    const { text } = await answered(wipes, stream)
    expect(text).toBe(wipes.replace('rm -rf /', '[REDACTED:deletion]'))
  })

  test('the answer is refused, and nothing of the block has left', async () => {
    await configure({ action: 'block' })
    const { status, body } = await answered(wipes, stream)
    expect(status).toBe(stream ? 200 : 400)
    expect(body).toMatchObject({ error: { type: 'content_blocked', details: { found: 'deletion' } } })
    expect(JSON.stringify(body)).not.toContain('rm')
  })

  test('a block that never ends is read too', async () => {
    await configure({ action: 'redact' })
    const { text } = await answered('```python\neval(input())', stream)
    expect(text).toBe('```python\n[REDACTED:input_as_code]')
  })

  test('a block too long to be read does not pass where code is taken out', async () => {
    await configure({ action: 'redact' })
    upstream.reply({ content: fenced('sql', '-- a comment\n'.repeat(2000)) })
    expect((await ask(gateway, { body: body(stream) })).body).toMatchObject({
      error: { details: { found: 'unread' } },
    })
  })
})

test('prose before and after a block streams on while the block waits', async () => {
  await configure({ action: 'block' })
  upstream.reply({ content: ['Hello ', 'there\n', '```sh\n', 'rm -rf / ', '&& ls'], hangAfter: 5 })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body(true)),
  })
  const reader = response.body!.getReader()
  let text = ''
  while (!text.includes('```sh')) text += Buffer.from((await reader.read()).value!).toString()
  expect(text).toContain('there')
  expect(text).not.toContain('rm -rf')
  await reader.cancel()
})

describe('settings', () => {
  test('what is less severe than the limit is told of and left in place', async () => {
    await configure({ action: 'block' })
    const medium = fenced('py', 'subprocess.run(f"ls {x}", shell=True)').replace(
      'sub',
      'import subprocess\nsub',
    )
    expect((await answered(medium)).text).toBe(medium)
    await configure({ action: 'block', act_from: 'medium' })
    expect((await answered(medium)).status).toBe(400)
    await configure({ report_from: 'high' })
    expect((await answered(medium)).headers.get('x-code-findings')).toBeNull()
  })

  test('kinds and languages that are not wanted are not looked for', async () => {
    await configure({ action: 'block', kinds: ['package'] })
    expect((await answered(wipes)).status).toBe(200)
    await configure({ action: 'block', languages: ['python'] })
    expect((await answered(wipes)).status).toBe(200)
    expect((await answered(fenced('py', 'import os\nos.system("rm -rf /")'))).status).toBe(200)
  })

  test('packages of the operator are known, and others are findings if only known ones are wanted', async () => {
    const imports = fenced('py', 'import reqests\nimport acme_tools\nimport os')
    const found = async () => (await answered(imports)).headers.get('x-code-findings')
    await configure({})
    expect(await found()).toBe('package;high')
    await configure({ only_known_packages: true })
    expect(await found()).toBe('package;high, package;medium')
    await configure({ only_known_packages: true, known_packages: ['reqests', 'acme-tools'] })
    expect(await found()).toBeNull()
  })
})

test('code without a label, or with that of another language, is read in every language', async () => {
  await configure({ action: 'redact' })
  expect((await answered(fenced('', '$ sudo rm -rf /'))).text).toContain('[REDACTED:deletion]')
  expect((await answered(fenced('text', 'DROP TABLE users;'))).text).toContain('[REDACTED:deletion]')
  expect((await answered(fenced('ruby', 'eval(input())'))).text).toContain('[REDACTED:input_as_code]')
})

test('prose and code in a line are not read', async () => {
  await configure({ action: 'block' })
  expect((await answered('Never run rm -rf / or `rm -rf /`.')).status).toBe(200)
})
