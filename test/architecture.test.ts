import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { discover } from '../gateway/discovery/read.ts'
import { kernelServices } from '../kernel/services.ts'

interface Source {
  readonly file: string
  readonly text: string
  readonly imports: readonly string[]
  /** Those that are more than types. */
  readonly values: readonly string[]
}

const plugins = [
  ...(await discover(path.resolve('modules'), 'builtin')),
  ...(await discover(path.resolve('plugins'), 'builtin')),
]
const sources = (
  await Promise.all(
    [
      'accounts',
      'config',
      'contract',
      'gateway',
      'isolation',
      'kernel',
      'kit',
      'network',
      'shadow',
      'staging',
      'storage',
      'workers',
      'modules',
      'plugins',
    ].map(read),
  )
).flat()
const own = sources.filter(({ file }) => !file.endsWith('.test.ts'))

test('modules and plugins import their own folder, the contract, the kit and packages, and nothing else', () => {
  const wrong = own
    .filter(({ file }) => /^(modules|plugins)\//.test(file))
    .flatMap((source) =>
      source.imports.filter((name) => !allowed(source, name)).map((name) => `${source.file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test.each(['staging', 'storage'])('%s imports nothing of ours', (folder) => {
  const wrong = own
    .filter(({ file }) => file.startsWith(`${folder}/`))
    .flatMap(({ file, imports }) =>
      imports
        .filter(
          (name) =>
            name.startsWith('#') || (name.startsWith('.') && !resolved(file, name).startsWith(`${folder}/`)),
        )
        .map((name) => `${file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test("workers are watched without a kernel: of ours that imports the store's messages and errors, and pure pieces", () => {
  const wrong = own
    .filter(({ file }) => file.startsWith('workers/'))
    .flatMap(({ file, imports }) =>
      imports
        .filter((name) => name.startsWith('#') || name.startsWith('.'))
        .filter(
          (name) =>
            !/^(workers|storage\/shared)\/|^storage\/index\.ts$/.test(resolved(file, name)) &&
            !isPure(resolved(file, name)),
        )
        .map((name) => `${file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test('users and keys lie in the store without a kernel: of ours that imports pure pieces and what a principal is', () => {
  const wrong = own
    .filter(({ file }) => file.startsWith('accounts/'))
    .flatMap(({ file, imports }) =>
      imports
        .filter((name) => name.startsWith('#') || name.startsWith('.'))
        .map((name) => resolved(file, name))
        .filter((to) => !/^(accounts|storage)\/|^kernel\/call\/call\.ts$/.test(to) && !isPure(to))
        .map((name) => `${file}: ${name}`),
    )
  const run = own
    .filter(({ file }) => file.startsWith('kernel/'))
    .filter(({ file, values }) => values.some((name) => resolved(file, name).startsWith('accounts/')))
  expect([...wrong, ...run.map(({ file }) => file)]).toEqual([])
})

test.each([
  ['isolation', /^(isolation|kernel|network|staging|storage\/shared|workers)\//, /^(gateway|isolation)\//],
  ['network', /^(kernel|network|storage\/shared|workers)\//, /^(gateway|isolation|network)\//],
  [
    'shadow',
    /^(shadow|kernel\/(call|chain|stream))\/|^kernel\/plugin\/(instance|shadow)\.ts$/,
    /^(gateway|shadow)\//,
  ],
])('%s stands on the kernel, which does not know it: the gateway hands it in', (layer, imported, knowing) => {
  const wrong = own.flatMap(({ file, imports }) => {
    const places = imports
      .filter((name) => name.startsWith('#') || name.startsWith('.'))
      .map((name) => resolved(file, name))
    const bad = places.filter((to) =>
      file.startsWith(`${layer}/`)
        ? !imported.test(to) && !isPure(to)
        : to.startsWith(`${layer}/`) && !knowing.test(file),
    )
    return bad.map((to) => `${file}: ${to}`)
  })
  expect(wrong).toEqual([])
})

test('the configuration is read without a kernel: of ours it imports pure pieces only', () => {
  const wrong = own
    .filter(({ file }) => file.startsWith('config/'))
    .flatMap(({ file, imports }) =>
      imports
        .filter((name) => name.startsWith('#') || name.startsWith('.'))
        .map((name) => resolved(file, name))
        .filter((to) => !to.startsWith('config/') && !isPure(to))
        .map((name) => `${file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test('the kit imports the kernel and the store, and the kernel of the kit only pieces that know nothing of ours', () => {
  const wrong = own
    .filter(({ file }) => /^(kernel|kit)\//.test(file))
    .flatMap(({ file, imports }) =>
      imports
        .filter((name) => {
          const to = resolved(file, name)
          return to.startsWith('kit/')
            ? file.startsWith('kernel/') && !isPure(to)
            : /^(modules|plugins|bin)\/|^#/.test(to)
        })
        .map((name) => `${file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test('what plugins share is types and tokens that stand on the kernel, which imports nothing of them', () => {
  const wrong = own.flatMap(({ file, imports }) => {
    const places = imports.filter((name) => name.startsWith('.')).map((name) => resolved(file, name))
    const bad = file.startsWith('contract/')
      ? /^(?!(accounts|config|contract|kernel|storage)\/)/
      : /^contract\//
    const isHeld = /^(contract|kernel)\//.test(file)
    return isHeld ? places.filter((to) => bad.test(to) && !isPure(to)).map((to) => `${file}: ${to}`) : []
  })
  const code = own.filter(
    ({ file, text }) =>
      file.startsWith('contract/') && /^(export )?(async )?(function|class|let)\b/m.test(text),
  )
  expect([...wrong, ...code.map(({ file }) => file)]).toEqual([])
})

test('the kernel imports no plugin and names none', () => {
  const ids = plugins.filter(({ manifest }) => manifest?.kind !== 'area').map(({ id }) => id)
  const kernel = own.filter(({ file }) => file.startsWith('kernel/'))
  const named = kernel.flatMap(({ file, text }) =>
    ids.filter((id) => new RegExp(`['"\`]${id}['"\`]`).test(text)).map((id) => `${file} names ${id}`),
  )
  const imported = kernel.flatMap(({ file, imports }) =>
    imports
      .filter((name) => /^(modules|plugins)\//.test(resolved(file, name)))
      .map((name) => `${file}: ${name}`),
  )
  expect([...named, ...imported]).toEqual([])
})

test('the kernel names no path of a plugin', () => {
  const named = own
    .filter(({ file }) => file.startsWith('kernel/'))
    .filter(({ text }) => /['"`]\/(api|v1)(\/|beta)/.test(text))
  expect(named.map(({ file }) => file)).toEqual([])
})

test("no import of Node's HTTP makes a start load its fetch, TLS and HTTP/2", () => {
  const wrong = own.filter(({ values }) => values.some((name) => /^(node:)?https?$/.test(name)))
  expect(wrong.map(({ file }) => file)).toEqual([])
})

test("the kernel's services are these", () => {
  expect(Object.keys(kernelServices)).toEqual([
    'accounts',
    'cohort',
    'config',
    'environment',
    'events',
    'files',
    'personal',
    'queues',
    'refusals',
    'registry',
    'reloader',
    'pluginData',
    'runtime',
    'secrets',
    'storage',
    'storeState',
    'threads',
  ])
})

/** Lines of each folder of the kernel without its tests; the files beside them are under ''. They may only fall. */
const budgets: Readonly<Record<string, number>> = {
  '': 592,
  call: 1_273,
  chain: 1_993,
  contract: 689,
  detect: 507,
  discovery: 122,
  events: 337,
  http: 1_380,
  permissions: 420,
  plugin: 2_260,
  stream: 253,
  threads: 67,
}

/** Lines of each layer beside the kernel that was a part of it. They, too, may only fall. */
const budgetsBeside: Readonly<Record<string, number>> = {
  isolation: 2_028,
  network: 262,
  shadow: 442,
}

test('the kernel keeps its size, and so do the layers that left it', () => {
  const lines = new Map<string, number>()
  for (const { file, text } of own) {
    const [layer = '', within = ''] = file.split('/').slice(0, -1)
    const folder = layer === 'kernel' ? `kernel/${within}` : layer
    lines.set(folder, (lines.get(folder) ?? 0) + text.split('\n').length - 1)
  }
  const over = [...lines].filter(([folder, count]) =>
    folder.startsWith('kernel/')
      ? count > (budgets[folder.slice('kernel/'.length)] ?? 0)
      : count > (budgetsBeside[folder] ?? Number.POSITIVE_INFINITY),
  )
  expect(over).toEqual([])
})

/** Innermost first: a folder runs code of those before it only. What stands beside these folders is for all of them. */
const layers = [
  'contract',
  'call',
  'stream',
  'detect',
  'chain',
  'permissions',
  'discovery',
  'plugin',
  'http',
  'threads',
]

test('a layer of the kernel runs code of the layers before it only', () => {
  const wrong = own.flatMap(({ file, values }) => {
    const layer = layers.indexOf(file.split('/')[1]!)
    if (!file.startsWith('kernel/') || layer === -1) return []
    return values
      .map((name) => resolved(file, name))
      .filter((to) => to.startsWith('kernel/') && layers.indexOf(to.split('/')[1]!) > layer)
      .map((to) => `${file}: ${to}`)
  })
  expect(wrong).toEqual([])
})

test('only commands know the gateway around kernels', () => {
  const knowing = own
    .filter(({ file }) => !file.startsWith('gateway/'))
    .filter(({ file, imports }) => imports.some((name) => resolved(file, name).startsWith('gateway/')))
  expect(knowing.map(({ file }) => file)).toEqual([])
})

test('no files run each other in a circle', () => {
  const graph = new Map(own.map(({ file, values }) => [file, values.map((name) => resolved(file, name))]))
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    state.set(file, 'done')
  }
  for (const file of graph.keys()) visit(file, [])
  expect(circles).toEqual([])
})

test('the way of a call has at most fifteen steps, which are functions where the documentation says', async () => {
  const text = await readFile('docs/architecture.md', 'utf8')
  const steps = text.split('\n').filter((line) => /^\| \d+ \|/.test(line))
  expect(steps.map((line) => Number(line.split('|')[1]))).toEqual(steps.map((_, i) => i + 1))
  expect(steps.length).toBeGreaterThan(10)
  expect(steps.length).toBeLessThanOrEqual(15)
  const quoted = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
  const missing = steps.flatMap((line) => {
    const [functions, files] = line.split('|').slice(3, 5).map(quoted)
    const code = files!.map((file) => own.find((source) => source.file === file)?.text ?? '').join('\n')
    // Where it is made: a function, a method, or a field that holds one.
    const isMade = (name: string): boolean =>
      new RegExp(`(function |readonly |async |^ {2})${name}(\\(|:)`, 'm').test(code)
    return functions!.filter((name) => !isMade(name))
  })
  expect(missing).toEqual([])
})

test('the glossary has at most thirty terms, each once', async () => {
  const text = await readFile('docs/architecture.md', 'utf8')
  const terms = text.split('## Glossary')[1]!.match(/^\| (?!term|-)[^|]+/gm)!
  expect(terms.length).toBeGreaterThan(20)
  expect(terms.length).toBeLessThanOrEqual(30)
  expect(new Set(terms).size).toBe(terms.length)
})

test('only definitions of plugins are default exports', () => {
  const wrong = own.filter(
    ({ file, text }) => /^export default/m.test(text) && !/^(modules|plugins)\/[^/]+\/index\.ts$/.test(file),
  )
  expect(wrong.map(({ file }) => file)).toEqual([])
})

/** The files that declare guarded services. */
const declaresServices =
  /^(kernel\/services|(kernel\/)?contract\/[\w-]+|plugins\/upstream\/kit\/services)\.ts$/

test('each plugin has the permission for each guarded service that it uses, and for no other', () => {
  const names = new Map<string, string>()
  for (const { file, text } of own)
    if (declaresServices.test(file))
      for (const [, name, service] of text.matchAll(/(\w+)(?:: | = )guardedToken<.*>\('([a-z-]+)'\)/g))
        names.set(name!, `service:${service}`)
  expect(names.size).toBeGreaterThan(10)
  const wrong = plugins.flatMap(({ id, folder, manifest }) => {
    const code = own
      .filter(({ file }) => path.resolve(file).startsWith(`${folder}/`))
      .map(({ text }) => text.replaceAll(/^import [^;]*? from '[^']*'$/gm, ''))
      .join('\n')
    const used = [...names].flatMap(([name, permission]) => {
      const isOwn = manifest?.provides.includes(permission.replace('service:', '')) ?? false
      const uses = new RegExp(/^[A-Z]/.test(name) ? `\\(${name}\\)` : `kernelServices\\.${name}\\b`).test(
        code,
      )
      return uses && !isOwn ? [permission] : []
    })
    const asked = (manifest?.permissions ?? []).filter((permission) => permission.startsWith('service:'))
    return [
      ...used.filter((permission) => !asked.includes(permission)).map((one) => `${id} lacks ${one}`),
      ...asked.filter((permission) => !used.includes(permission)).map((one) => `${id} does not use ${one}`),
    ]
  })
  expect(wrong).toEqual([])
})

test('no module or plugin keeps mutable state outside its setup', () => {
  const wrong = own.filter(
    ({ file, text }) => /^(modules|plugins)\//.test(file) && /^(export )?let /m.test(text),
  )
  expect(wrong.map(({ file }) => file)).toEqual([])
})

async function read(folder: string): Promise<Source[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  return Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name)
      const text = await readFile(file, 'utf8')
      const imports = [...text.matchAll(/(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
        (m) => (m[1] ?? m[2])!,
      )
      return { file, text, imports, values: valuesIn(text) }
    }),
  )
}

/** What a file imports or exports again to run it, and not for its types alone. */
function valuesIn(text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)( type)?\s([^;'"]*?)from '([^']+)'/gm)
  return [...statements].flatMap(([, type, names = '', from]) => {
    const inner = names
      .replaceAll(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean)
    return type || (inner.length > 0 && inner.every((name) => name.startsWith('type '))) ? [] : [from!]
  })
}

function allowed({ file }: Source, name: string): boolean {
  if (name.startsWith('.'))
    return resolved(file, name).startsWith(`${file.split('/').slice(0, 2).join('/')}/`)
  return ['#kernel', '#kit', '#provider'].includes(name) || !name.startsWith('#')
}

/** Whether a file is a piece of the kit that imports nothing of ours but others of these: any layer may stand on it. */
const isPure = (file: string): boolean =>
  file.startsWith('kit/') &&
  own
    .find((source) => source.file === file)!
    .imports.filter((name) => name.startsWith('#') || name.startsWith('.'))
    .every((name) => isPure(resolved(file, name)))

const resolved = (file: string, name: string): string =>
  name.startsWith('.') ? path.normalize(path.join(path.dirname(file), name)) : name
