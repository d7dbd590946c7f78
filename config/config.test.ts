// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the file's own syntax.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sections as models } from '../plugins/models/sections.ts'
import { sections as upstream } from '../plugins/upstream/sections.ts'
import { type Config, ConfigError, configJsonSchema, configKeys, fromTexts, loadConfig } from './config.ts'
import { renderProblems } from './lines.ts'
import { readSections, type SectionOwner } from './sections.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'config-'))
})
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true })
})

type Env = Record<string, string>
const write = (...lines: string[]) => writeFileSync(path.join(cwd, 'service.yaml'), lines.join('\n'))
const load = (env: Env = {}): Config => loadConfig({ env, cwd })
const owners: readonly SectionOwner[] = [
  { id: 'models', sections: ['models', 'prices', 'tokenizers'], settings: models },
  { id: 'upstream', sections: ['providers', 'routes', 'answers'], settings: upstream },
]
/** What the sections of plugins say, as the plugins are handed it. */
const sectionsOf = (env: Env = {}): object => {
  const config = load(env)
  const { values, problems } = readSections(config, owners)
  if (problems.length > 0) throw new ConfigError(renderProblems(problems, config.source))
  return { ...upstream.parse(values.get('upstream')), ...models.parse(values.get('models')) }
}
const problems = (env: Env = {}): readonly string[] => {
  try {
    sectionsOf(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('without a file', () => {
  it('has a default for everything', () => {
    expect(load()).toEqual({
      host: '127.0.0.1',
      port: 4200,
      dataDir: path.join(cwd, 'data'),
      logLevel: 'info',
      drain: 10_000,
      drainDelay: 0,
      modules: {},
      moduleCircuit: { failures: 5, window: 60_000, open: 30_000, budget: 2000, timeout: 60_000 },
      workers: { memory: 128 * 1024 * 1024, hang: 5000 },
      plugins: { packages: [], watch: false, setupTimeout: 30_000 },
      pluginDirs: [],
      storage: { engine: 'level', minFree: 256 * 1024 * 1024 },
      server: {
        threads: 1,
        trustedProxies: [],
        corsOrigins: [],
        bodyLimit: 10 * 1024 * 1024,
        proxyBodyLimit: 32 * 1024 * 1024,
        bodyMemory: 256 * 1024 * 1024,
        requestTimeout: 300_000,
        bodyDepth: 128,
        bodyNodes: 100_000,
      },
      auth: {
        openSignup: true,
        adminProxy: true,
        adminRpm: 120,
        failedKeysPerMinute: 20,
        signupPerHour: 20,
        keysPerUser: 50,
      },
      plans: { enforce: false },
      license: {},
      secrets: {},
      egress: { allow: [] },
      openapi: { public: false },
      encryptionKey: undefined,
      file: undefined,
      sources: {},
      sections: {},
      source: { name: undefined, positions: new Map(), variables: new Map() },
    })
  })

  it('takes what the environment says', () => {
    const config = load({
      SERVICE_HOST: '0.0.0.0',
      SERVICE_PORT: '8080',
      SERVICE_DATA_DIR: 'elsewhere',
      SERVICE_ADMIN_KEY: 'sy_admin_1',
      SERVICE_ENCRYPTION_KEY: 'correct horse',
      SERVICE_LICENSE_KEY: 'token',
      SERVICE_LOG_LEVEL: 'debug',
    })
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 8080,
      dataDir: path.join(cwd, 'elsewhere'),
      adminKey: 'sy_admin_1',
      encryptionKey: 'correct horse',
      license: { key: 'token' },
      logLevel: 'debug',
    })
    expect(config.sources).toMatchObject({ port: 'environment', 'license.key': 'environment' })
  })

  it('names the variable that is wrong', () => {
    expect(problems({ SERVICE_PORT: 'many', SERVICE_LOG_LEVEL: 'loud' })).toEqual([
      'SERVICE_PORT: expected a whole number from 0 to 65535, got "many"',
      'SERVICE_LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent, got "loud"',
    ])
  })

  it('takes an empty variable for an unset one', () => {
    expect(load({ SERVICE_PORT: '', SERVICE_CONFIG: '', SERVICE_ENCRYPTION_KEY: '' })).toMatchObject({
      port: 4200,
      encryptionKey: undefined,
    })
  })
})

describe('with a file', () => {
  it('reads every form the file may have', () => {
    write(
      'host: 0.0.0.0',
      'providers:',
      '  openai: { api_key: k, org_id: org-1 }',
      '  mycorp: { type: openai, base_url: "http://127.0.0.1:9000/v1", api_key: k, models: ["mycorp-*"] }',
      '  groq: { keys: [{ api_key: a, weight: 2 }, { api_key: b }] }',
      'modules:',
      '  cachelayer: { enabled: true, config: { ttl_s: 600, nested: { some_key: null } }, when: { projects: [docs] }, order: -5 }',
      'routes: [{ match: "gpt-*", provider: openai }]',
      'models: { mycorp/mycorp-*: { context_window: 32000, capabilities: { vision: true, tools: false } } }',
      'prices: { mycorp/mycorp-*: { input_usd_per_m: 1, output_usd_per_m: 2, cache_write_5m_usd_per_m: 3 } }',
      'plugins: ["@acme/switchyard-pii"]',
      'plugin_dirs: [./plugins]',
      'tokenizers: { gemma-3: { models: ["gemma-3-*"], file: gemma/tokenizer.json, chat_template: /srv/chat.jinja } }',
      'server: { trusted_proxies: [10.0.0.0/8, "::1"], cors_origins: ["https://app.example.com"], body_limit: 1.5 MB, proxy_body_limit: 4096 }',
      'drain: 1m',
    )
    expect({ ...load(), ...sectionsOf() }).toMatchObject({
      host: '0.0.0.0',
      providers: {
        openai: { apiKey: 'k', orgId: 'org-1' },
        mycorp: { type: 'openai', baseUrl: 'http://127.0.0.1:9000/v1', models: ['mycorp-*'] },
        groq: {
          keys: [
            { apiKey: 'a', weight: 2 },
            { apiKey: 'b', weight: 1 },
          ],
        },
      },
      modules: {
        cachelayer: {
          enabled: true,
          config: { ttl_s: 600, nested: { some_key: null } },
          when: { projects: ['docs'] },
          order: -5,
        },
      },
      routes: [{ match: 'gpt-*', provider: 'openai' }],
      models: {
        'mycorp/mycorp-*': { contextWindow: 32_000, capabilities: { vision: true, tools: false } },
      },
      prices: { 'mycorp/mycorp-*': { inputUsdPerM: 1, outputUsdPerM: 2, cacheWrite5mUsdPerM: 3 } },
      plugins: { packages: ['@acme/switchyard-pii'], watch: false, setupTimeout: 30_000 },
      pluginDirs: [path.join(cwd, 'plugins')],
      tokenizers: {
        'gemma-3': {
          models: ['gemma-3-*'],
          file: 'gemma/tokenizer.json',
          chatTemplate: '/srv/chat.jinja',
        },
      },
      server: { trustedProxies: ['10.0.0.0/8', '::1'], bodyLimit: 1.5 * 2 ** 20, proxyBodyLimit: 4096 },
      drain: 60_000,
      file: path.join(cwd, 'service.yaml'),
    })
  })

  it('lets the environment win', () => {
    write('port: 5000', 'host: example.internal')
    const config = load({ SERVICE_PORT: '6000' })
    expect(config).toMatchObject({ port: 6000, host: 'example.internal' })
    expect(config.sources).toEqual({ port: 'environment', host: 'file' })
  })

  it('takes a key without a value for one that is not there', () => {
    write('admin_key:', 'providers:', '  ollama:', 'routes:', 'server:', '  threads:', 'license: { key: "" }')
    const config = load()
    expect(config).toMatchObject({ server: { threads: 1 } })
    expect(sectionsOf()).toMatchObject({ providers: { ollama: {} }, routes: [] })
    expect(config.adminKey).toBeUndefined()
    expect(config.license.key).toBeUndefined()
  })

  it('reads the file SERVICE_CONFIG names, and paths in it from its folder', () => {
    mkdirSync(path.join(cwd, 'etc'))
    writeFileSync(path.join(cwd, 'etc/other.yaml'), 'data_dir: ./data\nplugin_dirs: [mine]')
    expect(load({ SERVICE_CONFIG: 'etc/other.yaml' })).toMatchObject({
      dataDir: path.join(cwd, 'etc/data'),
      pluginDirs: [path.join(cwd, 'etc/mine')],
    })
    expect(load({ SERVICE_CONFIG: 'etc/other.yaml', SERVICE_DATA_DIR: 'data' }).dataDir).toBe(
      path.join(cwd, 'data'),
    )
  })

  it('keeps the default data folder in the working directory, wherever the file is', () => {
    mkdirSync(path.join(cwd, 'etc'))
    writeFileSync(path.join(cwd, 'etc/other.yaml'), 'port: 1')
    expect(load({ SERVICE_CONFIG: 'etc/other.yaml' }).dataDir).toBe(path.join(cwd, 'data'))
  })

  it('says that the named file is missing', () => {
    expect(problems({ SERVICE_CONFIG: 'nowhere.yaml' })).toEqual([
      `SERVICE_CONFIG: cannot read ${path.join(cwd, 'nowhere.yaml')}: the file does not exist`,
    ])
  })

  it.each(['', '# nothing\n', '---\n'])('takes %j for no settings', (text) => {
    write(text)
    expect(load().port).toBe(4200)
  })
})

describe('references', () => {
  it('fills in variables and defaults, where numbers and booleans are wanted too', () => {
    write(
      'port: ${PORT}',
      'admin_key: "${ADMIN_KEY:-}"',
      'host: ${HOST:-127.0.0.2}',
      'auth: { open_signup: "${SIGNUP}" }',
      'server: { body_limit: "${LIMIT}mb" }',
      'providers: { mycorp: { base_url: "http://${NAME}.internal:${PORT}/v1", api_key: "${KEY}" } }',
    )
    const env = { PORT: '9000', SIGNUP: 'false', LIMIT: '2', NAME: 'models', KEY: '0123' }
    expect({ ...load(env), ...sectionsOf(env) }).toMatchObject({
      port: 9000,
      host: '127.0.0.2',
      auth: { openSignup: false },
      server: { bodyLimit: 2 * 2 ** 20 },
      providers: { mycorp: { baseUrl: 'http://models.internal:9000/v1', apiKey: '0123' } },
    })
    expect(load({ PORT: '1', SIGNUP: 'true', LIMIT: '1', NAME: 'n', KEY: 'k' }).adminKey).toBeUndefined()
  })

  it('names key and line of a variable that is not set', () => {
    write('port: 4200', 'providers:', '  openai:', '    api_key: ${OPENAI_API_KEY}')
    expect(problems()).toEqual([
      'service.yaml line 4: providers.openai.api_key: OPENAI_API_KEY is not set; set it, or write ${OPENAI_API_KEY:-default}',
    ])
  })

  it('need no value where a variable of the gateway stands in for the key', () => {
    write('port: ${PORT}', 'license: { key: "${KEY}" }')
    const set = { SERVICE_PORT: '4300', SERVICE_LICENSE_KEY: 'a.b.c' }
    expect(load(set)).toMatchObject({ port: 4300, license: { key: 'a.b.c' } })
    expect(problems({ ...set, SERVICE_PORT: 'many' })).toEqual([
      'SERVICE_PORT: expected a whole number from 0 to 65535, got text',
    ])
    expect(problems({ SERVICE_LICENSE_KEY: 'a.b.c' })).toEqual([
      expect.stringMatching(/line 1: port: PORT is not set/),
    ])
  })

  it('takes the default for an empty variable, and an empty variable for no value', () => {
    write('host: ${HOST:-localhost}', 'admin_key: ${KEY}')
    expect(load({ HOST: '', KEY: '' })).toMatchObject({ host: 'localhost' })
    expect(load({ HOST: '', KEY: '' }).adminKey).toBeUndefined()
  })

  it('can never become anything else than the text of its key', () => {
    write('admin_key: ${VALUE}', 'modules: { one: { config: { note: "${VALUE}" } } }')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ minLength: 1 }),
          fc.constantFrom(
            'x\nport: 1',
            '{ a: b }',
            '[1, 2]',
            'x # y',
            '*a',
            '&a b',
            '!!int 1',
            '${OTHER}',
            '12',
            'null',
          ),
        ),
        (value) => {
          const config = load({ VALUE: value, OTHER: 'leaked' })
          expect(config.adminKey).toBe(value)
          expect(config.modules).toEqual({ one: { config: { note: value } } })
          expect(config.port).toBe(4200)
        },
      ),
    )
  })

  it('are left alone where $${ says so, and refused where they are none', () => {
    write('admin_key: a$${b}', 'host: ${not a name}')
    expect(problems()).toEqual([expect.stringContaining('service.yaml line 2: host: expected ${NAME}')])
    write('admin_key: a$${b}')
    expect(load().adminKey).toBe('a${b}')
  })

  it('become numbers and booleans in settings by the schema of their owner', () => {
    write(
      'modules: { one: { config: { ttl_s: "${TTL:-600}", strict: "${STRICT:-true}", pin: "${PIN:-12}", list: ["1"] } } }',
    )
    const schema = {
      properties: {
        ttl_s: { type: 'integer' },
        strict: { type: 'boolean' },
        pin: { type: 'string' },
        list: { type: 'array', items: { type: 'number' } },
      },
    }
    expect(fromTexts(load().modules.one?.config, schema)).toEqual({
      ttl_s: 600,
      strict: true,
      pin: '12',
      list: [1],
    })
  })
})

describe('problems', () => {
  it('of the kernel are all reported at once, in the order of the file', () => {
    write(
      'server:',
      '  threads: 400',
      '  body_limit: 10mbb',
      '  cors_origins: ["https://a.example.com/path"]',
      '  trusted_proxies: [10.0.0.0/99]',
      'storage: { engine: postgres }',
      'egress: { allow: ["http://a.example.com", 10.0.0.0/99, 10.1.1, a.example.com, "fd00::/8"] }',
      'auth: { open_signup: maybe }',
      'admin_key: [sk-never-shown]',
      'drain: soon',
      'modules: { one: { enabled: 1, order: 1.5, config: [1] } }',
      'plugins: { setup_timeout: 3 }',
      'workers: { memory: 128 }',
    )
    expect(problems()).toEqual([
      'service.yaml line 2: server.threads: expected a whole number from 1 to 64, got 400',
      'service.yaml line 3: server.body_limit: expected a size such as 512kb or 10mb, got "10mbb"',
      'service.yaml line 4: server.cors_origins[0]: expected an origin such as https://app.example.com, or *, got "https://a.example.com/path"',
      'service.yaml line 5: server.trusted_proxies[0]: expected an IP address or a range such as 10.0.0.0/8, got "10.0.0.0/99"',
      'service.yaml line 6: storage.engine: postgres is not available yet: expected level, got "postgres"',
      'service.yaml line 7: egress.allow[0]: expected a host such as internal.example.com, an IP address or a range such as 10.0.0.0/8, got "http://a.example.com"',
      'service.yaml line 7: egress.allow[1]: expected a host such as internal.example.com, an IP address or a range such as 10.0.0.0/8, got "10.0.0.0/99"',
      'service.yaml line 7: egress.allow[2]: expected a host such as internal.example.com, an IP address or a range such as 10.0.0.0/8, got "10.1.1"',
      'service.yaml line 8: auth.open_signup: expected true or false, got "maybe"',
      'service.yaml line 9: admin_key: expected text, got a list',
      'service.yaml line 10: drain: expected a duration such as 500ms, 10s or 5m, got "soon"',
      'service.yaml line 11: modules.one.enabled: expected true or false, got 1',
      'service.yaml line 11: modules.one.config: expected a map, got a list',
      'service.yaml line 11: modules.one.order: expected a whole number from -1000000 to 1000000, got 1.5',
      'service.yaml line 12: plugins.setup_timeout: expected 100ms or more; a number without a unit is milliseconds, got 3',
      'service.yaml line 13: workers.memory: expected 16777216 bytes or more; a number without a unit is bytes, got 128',
    ])
  })

  it('of sections are all reported at once, in the order of the file', () => {
    write(
      'prot: 4200',
      'threads: 2',
      'providers:',
      '  OpenAI: { api_key: k }',
      '  groq: sk-never-shown',
      '  xai:',
      '    apikey: k',
      '    base_url: ftp://x',
      '    keys: [{ weight: heavy }]',
      'routes: { match: x }',
      'prices: { gpt: { input_usd_per_m: -1, output_usd_per_m: 1 } }',
      'provider: {}',
      'telemetry: {}',
    )
    expect(problems()).toEqual([
      'service.yaml line 1: prot: unknown key; the nearest known one is port',
      'service.yaml line 2: threads: unknown key; the nearest known one is server.threads',
      'service.yaml line 4: providers.OpenAI: expected a name of lower-case letters, digits, - and _, as the name',
      'service.yaml line 5: providers.groq: expected a map of keys, got text',
      'service.yaml line 7: providers.xai.apikey: unknown key; the nearest known one is providers.xai.api_key',
      'service.yaml line 8: providers.xai.base_url: expected an http or https address, got "ftp://x"',
      'service.yaml line 9: providers.xai.keys[0].api_key: expected text, got nothing',
      'service.yaml line 9: providers.xai.keys[0].weight: expected a number, 0 or more, got "heavy"',
      'service.yaml line 10: routes: expected a list, got a map',
      'service.yaml line 11: prices.gpt: expected provider/model, such as openai/gpt-4o, as the name',
      'service.yaml line 12: provider: unknown key; the nearest known one is providers',
      'service.yaml line 13: telemetry: unknown key',
    ])
  })

  it('of the environment do not repeat what came from it', () => {
    write('port: ${KEY}')
    expect(problems({ KEY: 'sk-never-shown' })).toEqual([
      'service.yaml line 1: port: expected a whole number from 0 to 65535, got text',
    ])
  })

  it('include both ways of giving a key at once', () => {
    write('providers: { groq: { api_key: a, keys: [{ api_key: b }] } }')
    expect(problems()).toEqual([
      'service.yaml line 1: providers.groq: expected either api_key or keys, not both, got a map',
    ])
  })

  it('include a header with which no call could be sent', () => {
    write('providers: { groq: { headers: { x-team: a, Content-Length: "5" } } }')
    expect(problems()).toEqual([
      'service.yaml line 1: providers.groq.headers.Content-Length: expected a header other than those of the connection itself, as the name',
    ])
  })

  it.each([
    ['an unclosed list', 'host: a\nplugins: [a', 'service.yaml line 2'],
    ['a key given twice', 'port: 1\nport: 2', 'service.yaml line 2'],
    ['a list at the top', '- a', 'service.yaml line 1: expected a map of keys, got a list'],
    ['a list that contains itself', 'plugins: &a [*a]', 'nested too deeply'],
    ['the name of a prototype', 'modules: { __proto__: { enabled: true } }', 'expected a plain name as key'],
  ])('include %s', (_, text, expected) => {
    write(text)
    expect(problems()[0]).toContain(expected)
  })

  it('include lists that multiply', () => {
    const bomb = Array.from({ length: 9 }, (_, n) => `  - &a${n + 1} [${Array(9).fill(`*a${n}`)}]`)
    write('plugins:', '  - &a0 [x]', ...bomb)
    expect(problems().join()).toContain('too large')
  })
})

describe('service.yaml.example', () => {
  const example = readFileSync(new URL('../service.yaml.example', import.meta.url), 'utf8')
  const uncommented = example.replace(/^(\s*)#(?=[^\s#])/gm, '$1')

  it('says what the defaults are', () => {
    const defaults = load()
    const sections = sectionsOf()
    write(example)
    const changed = { file: expect.any(String), sources: expect.any(Object), source: expect.any(Object) }
    expect(load()).toEqual({ ...defaults, ...changed, sections: expect.any(Object) })
    expect(sectionsOf()).toEqual(sections)
  })

  it('has every key, and no other', () => {
    write(uncommented)
    const names = [...example.matchAll(/\$\{([A-Z_]+):-/g)].map((found) => found[1] as string)
    const used = Object.keys(load(Object.fromEntries(names.map((name) => [name, 'x']))).sources)
    const missing = configKeys(upstream, models).filter(
      (key) => !used.some((path) => formOf(key.path).test(path)),
    )
    expect(missing.map((key) => key.path)).toEqual([])
  })

  /** What a key's path looks like in use, with the operator's names and what is inside a value. */
  function formOf(key: string): RegExp {
    const source = key
      .replace(/[.[\]]/g, '\\$&')
      .replaceAll('<name>', '.+')
      .replace('\\[\\]', '\\[\\d+\\]')
    return new RegExp(`^${source}(\\[|\\.|$)`)
  }
})

describe('configKeys', () => {
  it('tells type, default, meaning and secrecy of each key', () => {
    const keys = new Map(configKeys().map((key) => [key.path, key]))
    expect(keys.get('port')).toEqual({
      path: 'port',
      type: 'integer',
      default: 4200,
      description: 'Port to listen on; 0 picks a free one.',
      secret: false,
    })
    expect(keys.get('server.body_limit')).toMatchObject({ default: '10mb' })
    expect([...keys.values()].every((key) => key.description !== '')).toBe(true)
  })

  it('marks what must never be shown', () => {
    expect(configKeys(upstream, models).flatMap((key) => (key.secret ? [key.path] : []))).toEqual([
      'admin_key',
      'storage.url',
      'license.key',
      'secrets',
      'providers.<name>.api_key',
      'providers.<name>.keys[].api_key',
      'providers.<name>.headers',
    ])
  })

  it('is a projection of a schema that allows no other keys', () => {
    expect(configJsonSchema().additionalProperties).toBe(false)
  })
})
