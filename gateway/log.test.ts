import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLog, type LogOptions } from './log.ts'

function capture(options: Partial<LogOptions> & { isTTY?: boolean } = {}) {
  const stream = Object.assign(new PassThrough(), { isTTY: options.isTTY ?? false })
  const log = createLog({ level: options.level ?? 'trace', stream })
  const text = () => {
    let written = ''
    for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) written += chunk
    return written
  }
  return { log, text, line: () => JSON.parse(text()) as Record<string, unknown> }
}

describe('createLog', () => {
  it('writes one JSON line with level, time, message and facts', () => {
    const { log, text } = capture()
    log.info({ port: 4200 }, 'listening')
    const written = text()
    expect(written.endsWith('}\n')).toBe(true)
    const line = JSON.parse(written)
    expect(line).toEqual({ level: 'info', time: expect.any(String), msg: 'listening', port: 4200 })
    expect(new Date(line.time).toISOString()).toBe(line.time)
  })

  it('leaves out what is below its level, which may change', () => {
    const { log, text } = capture({ level: 'warn' })
    log.info('unimportant')
    expect(text()).toBe('')
    log.level = 'info'
    log.info('important')
    expect(text()).toContain('important')
  })

  it('names the component that speaks', () => {
    const { log, line } = capture()
    log.child({ component: 'registry' }).child({ plugin: 'cachelayer' }).warn('slow')
    expect(line()).toMatchObject({ component: 'registry', plugin: 'cachelayer', msg: 'slow' })
  })

  it('writes errors with their stack and cause', () => {
    const { log, line } = capture()
    log.error(new Error('outer', { cause: new Error('inner') }), 'failed')
    expect(line()).toMatchObject({ msg: 'failed', err: { stack: expect.stringContaining('inner') } })
  })
})

describe('redaction', () => {
  const secret = 'Zx81qwerty0ASDF'

  it.each([
    'api_key',
    'apiKey',
    'API_KEY',
    'OPENAI_API_KEY',
    'x-api-key',
    'authorization',
    'Proxy-Authorization',
    'password',
    'newPassword',
    'passwd',
    'secret',
    'clientSecret',
    'client_secrets',
    'token',
    'access_token',
    'refreshToken',
    'set-cookie',
    'cookie',
    'admin_key',
    'encryptionKey',
    'license_key',
    'privateKey',
    'credentials',
    'api_keys',
  ])('hides the value of %s, whatever it is', (name) => {
    const { log, text } = capture()
    log.info({ [name]: secret })
    log.info({ deep: [{ [name]: { inside: secret } }] })
    log.info({ [name]: [secret] })
    log.child({ [name]: secret }).info('hello')
    log.info({ [name]: 8181 })
    const written = text()
    expect(written).not.toContain(secret)
    expect(written).not.toContain('8181')
    expect(written.match(/\[redacted\]/g)).toHaveLength(5)
  })

  it.each([
    `sk-${secret}`,
    `sk-ant-api03-${secret}`,
    `sk-proj-${secret}`,
    `sk-sy-${secret}`,
    `sy_live_${secret}`,
    `sy_${secret}`,
    `sy_admin_${secret}`,
    `Bearer ${secret}`,
    `authorization: bearer ${secret}`,
    `Basic ${secret}==`,
    `gsk_${secret}`,
    `xai-${secret}`,
    `pplx-${secret}`,
    `hf_${secret}`,
    `https://user:${secret}@example.com/`,
    `https://x/?key=${secret}`,
    `https://x/?a=1&api_key=${secret}&b=2`,
    `{"api_key":"${secret}"}`,
    `{\\"api_key\\": \\"${secret}\\"}`,
    `password=${secret}`,
    `eyJhbGciOiJIUzI1NiJ9.${secret}.${secret}`,
    `AIza${secret}${secret}`,
  ])('hides %s inside any text', (value) => {
    const { log, text } = capture()
    log.info(value)
    log.info({ note: `before ${value} after` })
    log.info({ list: [`x ${value}`] })
    log.info('formatted %s', value)
    log.error(new Error(`failed with ${value}`, { cause: new Error(value) }))
    const written = text()
    expect(written).not.toContain(secret)
    expect(written.split('\n')).toHaveLength(6)
  })

  it('hides a key wherever it stands', () => {
    const { log, text } = capture()
    const key = fc.stringMatching(/^[A-Za-z0-9]{24}$/)
    fc.assert(
      fc.property(fc.json(), key, fc.constantFrom('sk-', 'sy_live_', 'Bearer '), (json, suffix, prefix) => {
        log.info(
          { data: JSON.parse(json), [`${prefix}${suffix}`]: 1, text: `${json} ${prefix}${suffix}` },
          `${prefix}${suffix}`,
        )
        const written = text()
        expect(written).not.toContain(suffix)
        expect(() => JSON.parse(written)).not.toThrow()
      }),
    )
  })

  it('leaves numbers of tokens, names, and ordinary words alone', () => {
    const { log, line } = capture()
    const facts = {
      tokens_in: 12,
      max_tokens: 100,
      total_tokens: 112,
      key_id: 'key_01K5ZJ',
      keys: 3,
      cache_key: 'abc',
      trace_id: 'tr_01K5ZJ',
      secret: null,
      has_password: true,
      url: 'http://127.0.0.1:4200/v1',
      text: 'the task-management of a risk-assessment, basically',
    }
    log.info(facts, 'a token bucket with 5 tokens')
    expect(line()).toMatchObject({ ...facts, msg: 'a token bucket with 5 tokens' })
  })
})

describe('on a terminal', () => {
  it('writes one readable line', () => {
    const { log, text } = capture({ isTTY: true })
    log.child({ component: 'http' }).info({ port: 4200 }, 'listening')
    expect(stripVTControlCharacters(text())).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}http listening port=4200\n$/,
    )
  })

  it('puts the stack of an error below', () => {
    const { log, text } = capture({ isTTY: true })
    log.error(new Error('broken'), 'failed')
    const [head, first, second] = stripVTControlCharacters(text()).split('\n')
    expect(head).toMatch(/ERROR failed$/)
    expect(first).toBe('    Error: broken')
    expect(second).toMatch(/^ {4} +at /)
  })

  it('shows no secrets', () => {
    const { log, text } = capture({ isTTY: true })
    log.warn({ password: 'hunter2hunter2' }, 'with sk-abcdefghijkl')
    expect(text()).not.toMatch(/hunter2|abcdefghijkl/)
  })

  it('lets no text command the terminal or pretend to be another line', () => {
    const { log, text } = capture({ isTTY: true })
    log
      .child({ component: '\u001b[2J' })
      .info({ fact: '\u009b31m' }, 'one\n12:00:00.000 INFO forged\u001b]0;title\u0007')
    const written = stripVTControlCharacters(text())
    expect(written.trim().split('\n')).toHaveLength(1)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal would obey.
    expect(written).not.toMatch(/[\u0007\u001b\u009b]/)
  })
})
