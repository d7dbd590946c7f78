import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { discover } from '../../gateway/discovery/read.ts'
import { stages } from '../../kernel/chain/hooks.ts'
import { load } from '../../kernel/discovery/loader.ts'
import type { Discovered, ModuleManifest } from '../../kernel/discovery/manifest.ts'
import { inOrder } from '../../kernel/plugin/order.ts'
import { jsonSchemaOf } from '../../kit/json/json-schema.ts'
import { readableJson } from './json.ts'
import { type SettingNode, settingRows } from './settings.ts'
import { table } from './table.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of the catalogue in the repository. */
export const catalogueFolder = path.join(root, 'docs', 'catalogue')

const written = 'Written by `npm run catalogue`; not to be edited.'

const stageTitles: Readonly<Record<(typeof stages)[number], string>> = {
  record: 'sees the call as the client does',
  access: 'who may call',
  limits: 'how much',
  inspect: 'what comes in, and for detectors what goes out',
  shape: 'the request as the model should see it',
  cache: 'answers without a call',
  verify: 'the answer as the client should get it',
  route: 'which model, which provider, which key',
  deliver: 'around the call to the provider',
}

const examplesSchema = z.array(z.looseObject({ title: z.string() }))

/** The pages of the catalogue by the names of their files: a list of the modules in chain order, and one page for each. */
export async function cataloguePages(): Promise<ReadonlyMap<string, string>> {
  const found = await discover(path.join(root, 'modules'), 'builtin')
  const modules = inOrder(
    found.flatMap((plugin) =>
      plugin.manifest?.kind === 'module' ? [{ plugin, manifest: plugin.manifest, order: 0 }] : [],
    ),
  )
  const pages = new Map([['README.md', listPage(modules.map(({ manifest }) => manifest))]])
  for (const { plugin, manifest } of modules)
    pages.set(`${manifest.id}.md`, await modulePage(plugin, manifest))
  return pages
}

function listPage(modules: readonly ModuleManifest[]): string {
  const sections = stages.flatMap((stage) => {
    const rows = modules
      .filter((module) => module.stage === stage)
      .map(({ id, title, enabled, failure, description }) => [
        `[${id}](${id}.md)`,
        title,
        enabled ? 'on' : 'off',
        failure,
        description,
      ])
    if (rows.length === 0) return []
    return [
      `## ${stage}: ${stageTitles[stage]}`,
      table(['module', 'title', 'default', 'failure', 'what it does'], rows),
    ]
  })
  return page('The modules', [
    `${written} Modules stand in chain order: a request passes them from top to bottom, an answer from bottom to top. ` +
      '[modules.md](../modules.md) says what all modules have in common.',
    ...sections,
  ])
}

async function modulePage(plugin: Discovered, manifest: ModuleManifest): Promise<string> {
  const { id, title, description, stage, enabled, failure, requires, permissions } = manifest
  const { settings } = await load(plugin.entry!)
  const rows = settingRows((jsonSchemaOf(settings) ?? {}) as SettingNode)
  const examples = examplesSchema.parse(
    JSON.parse(await readFile(path.join(plugin.folder, 'examples.json'), 'utf8')),
  )
  return page(title, [
    written,
    description,
    table(
      ['fact', 'value'],
      [
        ['id', `\`${id}\``],
        ['stage', `\`${stage}\`: ${stageTitles[stage]}`],
        ['by default', enabled ? 'on' : 'off'],
        ['when it fails', failure === 'open' ? 'the call passes without it' : 'the call is refused'],
        ...(requires.length > 0 ? [['needs', code(requires)]] : []),
        ...(permissions.length > 0 ? [['permissions', code(permissions)]] : []),
      ],
    ),
    '## Settings',
    rows.length > 0 ? table(['setting', 'type', 'default', 'what it does'], rows) : 'It has none.',
    '## Examples',
    'The conformance suite makes each of these calls, plain and streamed. `upstream` is what the provider answers, and `sent`, below ' +
      '`expect`, is what it received.',
    ...examples.flatMap(({ title, ...example }) => [
      `### ${title}`,
      `\`\`\`json\n${readableJson(example)}\n\`\`\``,
    ]),
  ])
}

const page = (title: string, parts: readonly string[]): string => `${[`# ${title}`, ...parts].join('\n\n')}\n`

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
