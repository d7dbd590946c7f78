import path from 'node:path'
import { expect, test } from 'vitest'
import { discover } from '../gateway/discovery/read.ts'
import { isPlaced, type ModuleManifest } from '../kernel/discovery/manifest.ts'
import { inOrder, reasonOf } from '../kernel/plugin/order.ts'

/** The whole chain, outermost first: the modules, and the areas with hooks. Order is behaviour: changing this list is a decision, not a repair. */
const chain = [
  'record: alertpulse',
  'record: anomalyradar',
  'record: billsync',
  'record: compliancelog',
  'record: driftwatch',
  'record: encryptvault',
  'record: feedbackloop',
  'record: llmtap',
  'record: retentionwipe',
  'record: streamsnap',
  'record: tracelink',
  'record: trainexport',
  'record: usagepulse',
  'access: promptpad',
  'access: voicebridge',
  'access: whitelabel',
  'access: ipfence',
  'access: keyscope',
  'access: tenantwall',
  'access: agegate',
  'access: approvalgate',
  'limits: batchqueue',
  'limits: idlekill',
  'limits: loadshed',
  'limits: agentguard',
  'limits: outputcap',
  'limits: queuepriority',
  'limits: rateshield',
  'limits: planquota',
  'limits: costcap',
  'inspect: imageproxy',
  'inspect: promptguard',
  'inspect: glyphguard',
  'inspect: promptlint',
  'inspect: toolshield',
  'inspect: toxicfilter',
  'inspect: trustenforce',
  'inspect: guardrail',
  'inspect: maskmode',
  'inspect: secretscan',
  'shape: chatmem',
  'shape: contextpack',
  'shape: langbridge',
  'shape: promptslim',
  'shape: tokentrim',
  'shape: contextwindow',
  'shape: anthrofit',
  'shape: geminishim',
  'shape: paramnorm',
  'shape: prefixcache',
  'cache: playback',
  'cache: cachelayer',
  'cache: semanticcache',
  'cache: embedcache',
  'cache: inflight',
  'verify: leakguard',
  'verify: codefence',
  'verify: structuredshield',
  'verify: evalgate',
  'verify: hallucicheck',
  'route: keypool',
  'route: multicall',
  'route: modelalias',
  'route: modelswitch',
  'route: abrouter',
  'route: canarydeploy',
  'route: autopilot',
  'route: localsync',
  'route: regionroute',
  'route: tierdrop',
  'deliver: mirrortest',
  'deliver: hedgerace',
  'deliver: fallbackrouter',
  'deliver: mockllm',
  'deliver: retrypilot',
  'deliver: chaosllm',
  'deliver: devproxy',
]

test('the chain has this order', async () => {
  const modules = await discover(path.resolve('modules'), 'builtin')
  expect(modules).toHaveLength(76)
  const areas = await discover(path.resolve('plugins'), 'builtin')
  const placed = [...modules, ...areas].flatMap(({ manifest }) =>
    isPlaced(manifest) ? [{ manifest, order: 0 }] : [],
  )
  expect(inOrder(placed).map(({ manifest }) => `${manifest.stage}: ${manifest.id}`)).toEqual(chain)
})

test('wishes hold inside a stage, and the order does not depend on where modules are found', () => {
  const module = (id: string, wishes: Partial<ModuleManifest> = {}) => ({
    manifest: { id, stage: 'limits', before: [], after: [], ...wishes } as unknown as ModuleManifest,
    order: 0,
  })
  const modules = [module('c', { before: ['a'] }), module('a'), module('b', { after: ['d'] }), module('d')]
  const ids = (list: typeof modules) => inOrder(list).map(({ manifest }) => manifest.id)
  expect(ids(modules)).toEqual(['c', 'a', 'd', 'b'])
  expect(ids(modules.toReversed())).toEqual(['c', 'a', 'd', 'b'])
})

test('the operator has the last word, and a cycle still gives an order', () => {
  const module = (id: string, after: string[], order = 0) => ({
    manifest: { id, stage: 'limits', before: [], after } as unknown as ModuleManifest,
    order,
  })
  expect(inOrder([module('a', []), module('b', ['a'], -1)]).map(({ manifest }) => manifest.id)).toEqual([
    'b',
    'a',
  ])
  expect(inOrder([module('a', ['b']), module('b', ['a'])]).map(({ manifest }) => manifest.id)).toEqual([
    'a',
    'b',
  ])
})

const placed = (id: string, { after = [] as string[], before = [] as string[], order = 0 } = {}) => ({
  manifest: { id, stage: 'limits', before, after } as unknown as ModuleManifest,
  order,
})

test('the operator outweighs all wishes, and several configurations of a module go by their ids', () => {
  const ids = (list: readonly { id?: string; manifest: ModuleManifest }[]) =>
    list.map(({ id, manifest }) => id ?? manifest.id)
  const wishing = [
    placed('a', { after: ['b'] }),
    placed('b', { order: 2 }),
    placed('c', { order: 1, after: ['b'] }),
  ]
  expect(ids(inOrder(wishing))).toEqual(['a', 'c', 'b'])
  expect(ids(inOrder([placed('x', { order: 10 }), placed('y', { order: 9 }), placed('z')]))).toEqual([
    'z',
    'y',
    'x',
  ])
  const circle = [placed('x', { after: ['y'] }), placed('y', { after: ['x'] }), placed('w', { order: 1 })]
  expect(ids(inOrder(circle))).toEqual(['x', 'y', 'w'])
  expect(ids(inOrder([placed('b', { after: ['b'], before: ['b'] }), placed('c')]))).toEqual(['b', 'c'])
  const bound = ['a/2', 'a/1', 'a/3'].map((id) => ({ id, ...placed('a') }))
  expect(ids(inOrder(bound))).toEqual(['a/1', 'a/2', 'a/3'])
})

test('why a module stands where it does is told by its stage and its wishes, or by its id', () => {
  expect(reasonOf(placed('a'))).toBe('stage limits, by id')
  expect(reasonOf(placed('a', { order: -1 }))).toBe('stage limits, order -1')
  expect(reasonOf(placed('a', { after: ['b', 'c'], before: ['d'], order: 2 }))).toBe(
    'stage limits, order 2, after b, after c, before d',
  )
})
