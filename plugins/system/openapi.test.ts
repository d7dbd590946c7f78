import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, unknown>> }
  readonly responses: Readonly<Record<string, object>>
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

let gateway: TestGateway
let document: Document

beforeAll(async () => {
  gateway = await startGateway()
  document = (await gateway.api('GET', '/api/openapi.json')).body
})

afterAll(() => gateway.close())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )

test('the document is valid OpenAPI 3.1', async () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  const result = await new Validator().validate(structuredClone<object>(document) as Record<string, unknown>)
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
})

test('every live route and wire is in it, and nothing else', () => {
  const { routes, wires } = gateway.kernel.registry.generation
  const live = [
    ...routes.map(({ method, path }) => `${method} ${path}`),
    ...wires.paths.map((path) => `post ${path}`),
  ].map((one) => one.replace('{+', '{'))
  expect(
    operations()
      .map(({ method, path }) => `${method} ${path}`)
      .toSorted(),
  ).toEqual(live.toSorted())
})

test('every operation has a summary, an id of its own, and exactly the parameters of its path', () => {
  const ids = operations().map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[a-z][A-Za-z0-9_]*$/.test(id))).toEqual([])
  for (const { path, operation } of operations()) {
    expect(operation.summary.length, path).toBeGreaterThan(5)
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
    expect(declared.map(({ name }) => name).toSorted(), path).toEqual(named.toSorted())
    expect(
      declared.every(({ required }) => required),
      path,
    ).toBe(true)
  }
})

test('every status with which an operation refuses stands there by itself', () => {
  for (const { path, method, operation } of operations()) {
    const { requestBody, parameters = [], responses } = operation
    const route = gateway.kernel.registry.generation.routes.find(
      (route) => route.method === method && route.path === path,
    )
    const needsMore = route?.access === 'user' || route?.access === 'admin'
    const expected = [
      '401',
      '429',
      '431',
      '5XX',
      ...(requestBody || parameters.length > 0 ? ['400'] : []),
      ...(requestBody ? ['413', '415'] : []),
      ...(needsMore ? ['403'] : []),
      ...(path.includes('{') ? ['404'] : []),
    ]
    expect(Object.keys(responses), `${method} ${path}`).toEqual(expect.arrayContaining(expected))
    expect(responses).not.toHaveProperty('default')
  }
  const answers = (method: string, path: string) => Object.keys(document.paths[path]![method]!.responses)
  expect(answers('post', '/api/auth/users')).toContain('409')
  expect(answers('put', '/api/proxy/modules/{name}')).toContain('409')
  expect(answers('get', '/api/proxy/modules')).not.toContain('409')
})

test('a module that lets nobody in by itself may refuse everywhere', async () => {
  const statuses = async (): Promise<string[]> => {
    const { paths } = (await gateway.api('GET', '/api/openapi.json')).body as Document
    return Object.keys(paths['/health']!.get!.responses)
  }
  await gateway.module('keyscope', { enabled: false })
  expect(await statuses()).not.toContain('403')
  await gateway.module('ipfence', { enabled: true, config: { deny: ['192.0.2.0/24'] } })
  expect(await statuses()).toContain('403')
  await gateway.module('ipfence', { enabled: false })
  await gateway.module('keyscope', { enabled: true })
})

test('a body is required where an empty object will not do', async () => {
  const { post } = document.paths['/api/auth/users']!
  const rotate = document.paths['/api/auth/me/keys/{keyId}/rotate']!.post!
  expect([post!.requestBody!.required, rotate.requestBody!.required]).toEqual([true, false])
  for (const { path, method, operation } of operations()) {
    if (!operation.requestBody?.required || path.includes('{')) continue
    const { status } = await gateway.api(method.toUpperCase(), path)
    // What comes is JSON by its type.
    const isJson = operation.requestBody.content['application/json'] !== undefined
    expect([status, path]).toEqual([isJson ? 400 : 415, path])
  }
})

test('patterns are such as every tool can read, and limits that are lists are told', () => {
  expect(JSON.stringify(document)).not.toMatch(/"pattern":"[^"]*\\\\p\{/i)
  const { parameters } = document.paths['/api/observe/timeseries']!.get!
  const bucket = parameters!.find(({ name }) => name === 'bucket')
  expect(bucket).toMatchObject({ schema: { enum: expect.arrayContaining([60, 3600, 86_400]) } })
})

test('public operations, and no others, are without security', () => {
  const open = operations().flatMap(({ path, method, operation }) =>
    operation.security.length === 0 ? [`${method} ${path}`] : [],
  )
  expect(open.toSorted()).toEqual(
    gateway.kernel.registry.generation.routes
      .filter(({ access }) => access === 'public')
      .map(({ method, path }) => `${method} ${path.replaceAll('{+', '{')}`)
      .toSorted(),
  )
})

test('it follows what is switched on', async () => {
  await gateway.kernel.registry.change('auth', { enabled: false })
  const without = (await gateway.api('GET', '/api/openapi.json')).body
  expect(without.paths).not.toHaveProperty('/api/auth/me')
  await gateway.kernel.registry.change('auth', { enabled: true })
  const again = (await gateway.api('GET', '/api/openapi.json')).body
  expect(again.paths).toHaveProperty('/api/auth/me')
})

test('one path can be asked for, and one that is not there has nothing', async () => {
  const of = async (path: string) =>
    (await gateway.api('GET', `/api/openapi.json?path=${encodeURIComponent(path)}`)).body as Document
  const path = '/api/auth/users/{id}'
  expect(await of(path)).toEqual({ ...document, paths: { [path]: document.paths[path] } })
  expect((await of('/nothing')).paths).toEqual({})
})

test('it is public where the configuration says so', async () => {
  const open = await startGateway({ config: { openapi: { public: true } } })
  expect((await fetch(`${open.url}/api/openapi.json`)).status).toBe(200)
  expect((await fetch(`${open.url}/api/status`)).status).toBe(401)
  await open.close()
  expect((await fetch(`${gateway.url}/api/openapi.json`)).status).toBe(401)
})
