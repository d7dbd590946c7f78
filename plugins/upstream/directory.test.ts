import { describe, expect, test } from 'vitest'
import { type ProviderSpec, providerSpec } from '../../contract/provider.ts'
import { GatewayError } from '../../kit/errors.ts'
import { RouteTable } from './directory/route-table.ts'
import { Directory } from './directory.ts'
import { sections } from './sections.ts'

type Specs = Record<string, Partial<ProviderSpec>>

const specs: Specs = {
  alpha: {
    protocol: 'openai',
    base_url: 'https://alpha.test/v1',
    key_env: ['ALPHA_KEY', 'ALPHA_OLD'],
    models: ['a-*', 'shared'],
  },
  beta: {
    protocol: 'openai',
    base_url: 'https://beta.test',
    base_url_env: 'BETA_URL',
    key_env: ['BETA_KEY'],
    models: ['b-1', 'shared'],
  },
  spare: { protocol: 'mock', key: 'none', fallback: true },
}

function directoryOf(config: object = {}, env: Record<string, string> = {}, known: Specs = specs): Directory {
  const specs = specsOf(known)
  return directoryWith(() => specs, config, env)
}

const specsOf = (known: Specs): ReadonlyMap<string, ProviderSpec> =>
  new Map(Object.entries(known).map(([name, spec]) => [name, providerSpec.parse(spec)]))

function directoryWith(
  specs: () => ReadonlyMap<string, ProviderSpec>,
  config: object,
  env: Record<string, string>,
): Directory {
  const { providers: entries, routes } = sections.parse(config)
  return new Directory({ entries, env, specs, routes: new RouteTable(routes) })
}

const namesFor = (directory: Directory, model: string): string[] =>
  directory.resolve(model, undefined).map(({ provider }) => provider.name)

function refusal(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('it was not refused')
}

const bothKeys = { ALPHA_KEY: 'sk-alpha', BETA_KEY: 'sk-beta' }

describe('where a model goes', () => {
  test('provider/model says it outright, and the rest of the name is the model', () => {
    const [route, ...others] = directoryOf({}, bothKeys).resolve('beta/org/model-7', undefined)
    expect(others).toEqual([])
    expect(route).toMatchObject({ provider: { name: 'beta' }, model: 'org/model-7' })
  })

  test('a name with a slash that no provider has is a model like any other', () => {
    const directory = directoryOf({ providers: { own: { type: 'alpha', api_key: 'k', models: ['meta/*'] } } })
    expect(directory.resolve('meta/llama', undefined)[0]).toMatchObject({
      provider: { name: 'own' },
      model: 'meta/llama',
    })
  })

  test('the first route of the configuration that matches outweighs who serves the name', () => {
    const routes = [
      { match: 'a-small', provider: 'beta', model: 'b-1' },
      { match: 'a-*', provider: 'spare' },
    ]
    const directory = directoryOf({ routes }, bothKeys)
    expect(directory.resolve('a-small', undefined)).toMatchObject([
      { provider: { name: 'beta' }, model: 'b-1' },
    ])
    expect(directory.resolve('A-large', undefined)).toMatchObject([
      { provider: { name: 'spare' }, model: 'A-large' },
    ])
  })

  test('of those who serve a name, the ones with a key come first', () => {
    expect(namesFor(directoryOf({}, { BETA_KEY: 'sk-beta' }), 'shared')).toEqual(['beta', 'alpha'])
    expect(namesFor(directoryOf({}, bothKeys), 'shared')).toEqual(['alpha', 'beta'])
  })

  test('models that a provider serves at present lead there as those that it names do, under its own names', () => {
    const directory = directoryOf({}, bothKeys)
    expect(() => directory.resolve('tiny', undefined)).toThrow('No provider serves')
    directory.served.set(
      'beta',
      new Map([
        ['tiny', 'tiny:latest'],
        ['a-1', 'a-1'],
      ]),
    )
    expect(directory.resolve('tiny', undefined)).toMatchObject([
      { provider: { name: 'beta' }, model: 'tiny:latest' },
    ])
    expect(namesFor(directory, 'a-1')).toEqual(['alpha', 'beta'])
    const { edition } = directory.served
    directory.served.set(
      'beta',
      new Map([
        ['tiny', 'tiny:latest'],
        ['a-1', 'a-1'],
      ]),
    )
    expect(directory.served.edition).toBe(edition)
    directory.served.set('beta', undefined)
    expect(() => directory.resolve('tiny', undefined)).toThrow('No provider serves')
  })

  test('a provider that serves a model at present takes the place of none that the catalogue lists for it', () => {
    const { providers: entries, routes } = sections.parse({})
    const known = specsOf(specs)
    const catalogue = { edition: 1, lists: (name: string) => name === 'alpha', supports: () => undefined }
    const directory = new Directory({
      entries,
      env: bothKeys,
      specs: () => known,
      routes: new RouteTable(routes),
      catalogue: () => catalogue,
    })
    expect(namesFor(directory, 'tiny')).toEqual(['alpha'])
    directory.served.set('beta', new Map([['tiny', 'tiny:latest']]))
    expect(namesFor(directory, 'tiny')).toEqual(['alpha', 'beta'])
  })

  test('a route that leads to no provider is told as the fault of the routes, not of a header', () => {
    const directory = directoryOf({ routes: [{ match: 'a-*', provider: 'gone' }] }, bothKeys)
    expect(refusal(() => directory.resolve('a-1', undefined))).toMatchObject({
      message: expect.stringMatching(/^The route for a-\* leads to gone, which is no known provider/),
      param: 'model',
    })
  })

  test('the fallback stays out when a provider is configured that cannot be used', () => {
    const directory = directoryOf({ providers: { gone: { api_key: 'k' } } })
    expect(refusal(() => directory.resolve('any', undefined))).toMatchObject({ code: 'not_found' })
  })

  test('the fallback takes any model while no other provider has a key, and none after', () => {
    expect(namesFor(directoryOf(), 'a-1')).toEqual(['alpha', 'spare'])
    expect(namesFor(directoryOf(), 'anything')).toEqual(['spare'])
    expect(namesFor(directoryOf({}, bothKeys), 'a-1')).toEqual(['alpha'])
  })

  test('X-Provider outweighs everything, and the name may say the provider too', () => {
    const directory = directoryOf({ routes: [{ match: '*', provider: 'beta' }] }, bothKeys)
    expect(directory.resolve('anything', 'alpha')).toMatchObject([
      { provider: { name: 'alpha' }, model: 'anything' },
    ])
    expect(directory.resolve('alpha/a-1', 'alpha')).toMatchObject([
      { provider: { name: 'alpha' }, model: 'a-1' },
    ])
  })

  test('what was resolved before is resolved anew when providers come and go', () => {
    let now = specsOf(specs)
    const directory = directoryWith(() => now, {}, bothKeys)
    expect(namesFor(directory, 'shared')).toEqual(['alpha', 'beta'])
    now = specsOf({ beta: specs.beta! })
    expect(namesFor(directory, 'shared')).toEqual(['beta'])
  })
})

describe('what is refused', () => {
  test('an unknown provider, with the names of those that are configured', () => {
    const error = refusal(() => directoryOf({}, { BETA_KEY: 'k' }).resolve('b-1', 'gamma'))
    expect(error).toMatchObject({ code: 'bad_request', status: 400 })
    expect(error.message).toContain('gamma')
    expect(error.message).toContain('beta')
    expect(error.message).not.toContain('alpha')
  })

  test('a model that nobody serves, with near names of models and of aliases', () => {
    const directory = directoryOf({}, bothKeys)
    const error = refusal(() => directory.resolve('sharde', undefined, () => ['sharp']))
    expect(error).toMatchObject({ code: 'not_found', status: 404, param: 'model' })
    expect(error.message).toContain('Did you mean shared or sharp?')
  })

  test('a model that is like no other, without a guess', () => {
    const error = refusal(() => directoryOf({}, bothKeys).resolve('something-else-altogether', undefined))
    expect(error.message).not.toContain('Did you mean')
  })
})

describe('what makes a provider', () => {
  test('the environment outweighs the file, for key and address; the first variable that is set counts', () => {
    const config = { providers: { alpha: { api_key: 'from-file' }, beta: { base_url: 'http://file.test' } } }
    const directory = directoryOf(config, { ALPHA_OLD: 'from-env', BETA_URL: 'http://env.test/v1/' })
    expect(directory.get('alpha')).toMatchObject({ keySource: 'environment', keys: [{ secret: 'from-env' }] })
    expect(directory.get('beta').baseUrl).toBe('http://env.test/v1')
    expect(directoryOf(config).get('alpha')).toMatchObject({
      keySource: 'config',
      keys: [{ secret: 'from-file' }],
    })
  })

  test('one of the operator is like the one it names, but for address, keys and models', () => {
    const config = {
      providers: {
        own: {
          type: 'alpha',
          base_url: 'http://own.test',
          keys: [{ api_key: 'k1', weight: 3 }, { api_key: 'k2' }],
        },
      },
    }
    const own = directoryOf(config, bothKeys).get('own')
    expect(own).toMatchObject({ protocol: 'openai', baseUrl: 'http://own.test', configured: true })
    expect(own.keys.map(({ secret, weight }) => [secret, weight])).toEqual([
      ['k1', 3],
      ['k2', 1],
    ])
    expect(own.spec.models).toEqual([])
  })

  test('one with an address of its own needs no key', () => {
    const config = { providers: { own: { type: 'alpha', base_url: 'http://own.test' } } }
    expect(directoryOf(config).get('own')).toMatchObject({ configured: true, keys: [] })
    expect(directoryOf().get('alpha').configured).toBe(false)
  })

  test('a name that nothing explains is known as unusable', () => {
    const directory = directoryOf({ providers: { mystery: { base_url: 'http://mystery.test' } } })
    expect(directory.unusable).toEqual(['mystery'])
    expect(directory.find('mystery')).toBeUndefined()
  })

  test('a type that no manifest and no protocol has is known as unusable', () => {
    const base_url = 'http://own.test'
    const providers = { like: 'alpha', speaking: 'openai', mistyped: 'openia' }
    const entries = Object.entries(providers).map(([name, type]) => [name, { type, base_url }])
    const parsed = sections.parse({ providers: Object.fromEntries(entries) })
    const parts = {
      entries: parsed.providers,
      env: {},
      routes: new RouteTable([]),
      specs: () => specsOf(specs),
    }
    expect(new Directory(parts).unusable).toEqual(['mistyped'])
    const protocols = () => new Map([['openia', {}]])
    expect(new Directory({ ...parts, protocols }).unusable).toEqual(['speaking'])
  })

  test('the id of a key tells it from others and gives nothing of it away', () => {
    const config = {
      providers: { alpha: { keys: [{ api_key: 'sk-one-secret' }, { api_key: 'sk-two-secret' }] } },
    }
    const [one, two] = directoryOf(config).get('alpha').keys
    expect(one!.id).not.toBe(two!.id)
    expect(one!.id).not.toContain('secret')
    expect(directoryOf(config).get('alpha').keys[0]!.id).toBe(one!.id)
  })

  test('the hint of a key is its last characters, and nothing when these would be all of it', () => {
    const config = { providers: { alpha: { keys: [{ api_key: 'sk-1234567890abcd' }, { api_key: 'four' }] } } }
    expect(
      directoryOf(config)
        .get('alpha')
        .keys.map(({ hint }) => hint),
    ).toEqual(['abcd', ''])
  })
})

describe('options', () => {
  const cloud: Specs = {
    cloud: {
      protocol: 'openai',
      base_url: 'https://{resource}.cloud.test/v1',
      key_env: ['CLOUD_KEY'],
      options: { version: '1', region: 'here' },
      option_env: { resource: ['CLOUD_RESOURCE'], version: ['CLOUD_VERSION'] },
    },
  }
  const entry = (options: object) => ({ providers: { cloud: { options } } })

  test('are those of the manifest, replaced by the entry, replaced by the environment', () => {
    const env = { CLOUD_KEY: 'k', CLOUD_VERSION: '3' }
    const options = { resource: 'mine', version: '2', more: { a: 1 } }
    const provider = directoryOf(entry(options), env, cloud).get('cloud')
    expect(provider.options).toEqual({ resource: 'mine', version: '3', region: 'here', more: { a: 1 } })
  })

  test('stand in the address where it names them, and cannot change where it leads', () => {
    const address = (resource: string) =>
      directoryOf(entry({ resource }), { CLOUD_KEY: 'k' }, cloud).get('cloud').baseUrl
    expect(address('mine')).toBe('https://mine.cloud.test/v1')
    expect(address('evil.test/')).toBe('https://evil.test%2F.cloud.test/v1')
  })

  test('that the address needs and nobody has set leave a provider out of use, key or not', () => {
    const { configured, baseUrl } = directoryOf({}, { CLOUD_KEY: 'k' }, cloud).get('cloud')
    expect({ configured, baseUrl }).toEqual({
      configured: false,
      baseUrl: 'https://{resource}.cloud.test/v1',
    })
    expect(directoryOf({}, { CLOUD_KEY: 'k', CLOUD_RESOURCE: 'r' }, cloud).get('cloud').configured).toBe(true)
  })
})

test('a key of several parts is put together from several variables, once all that must be set are', () => {
  const parted: Specs = {
    parted: { protocol: 'openai', base_url: 'https://p.test', key_env: ['{A}:{B}:{C?}'] },
  }
  const secretOf = (env: Record<string, string>) =>
    directoryOf({}, env, parted)
      .get('parted')
      .keys.map(({ secret }) => secret)
  expect(secretOf({ A: 'a' })).toEqual([])
  expect(secretOf({ A: 'a', B: '' })).toEqual([])
  expect(secretOf({ A: 'a', B: '$&' })).toEqual(['a:$&:'])
  expect(secretOf({ A: 'a', B: 'b', C: 'c' })).toEqual(['a:b:c'])
})

describe('names of models', () => {
  test('are those without globs, until the provider lists its own', () => {
    const directory = directoryOf({}, bothKeys)
    expect(directory.names).toEqual(['shared', 'b-1'])
    directory.learn('alpha', ['a-9'])
    expect(directory.names).toEqual(['a-9', 'b-1', 'shared'])
    expect(directory.namesOf('beta')).toEqual(['b-1', 'shared'])
  })

  test('are what of such a list is a name, each once', () => {
    const directory = directoryOf({}, bothKeys)
    const odd = [7, null, undefined, {}, '', 'x'.repeat(257), 'a-9', 'a-9']
    directory.learn('alpha', [...odd, ...Array.from({ length: 20_000 }, (_, n) => `model-${n}`)])
    const names = directory.namesOf('alpha')
    expect(names.slice(0, 2)).toEqual(['a-9', 'model-0'])
    expect(names.length).toBeLessThanOrEqual(10_000)
  })
})
