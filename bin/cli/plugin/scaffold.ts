import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import mustache from 'mustache'
import { packageVersion } from '../../../gateway/version.ts'
import { apiVersion, type Manifest } from '../../../kernel/discovery/manifest.ts'

export type Kind = Manifest['kind']

/** A short description of each kind, for the manifest; the plugin's author replaces it. */
const descriptions: Readonly<Record<Kind, string>> = {
  module: 'Gives the model an instruction before the conversation.',
  area: 'Counts the calls of each model.',
  provider: "Models of a service that speaks OpenAI's protocol.",
}

/** The files of a new plugin by name, from the templates beside this file. */
export async function scaffold(id: string, kind: Kind): Promise<ReadonlyMap<string, string>> {
  const view = {
    id,
    package: `switchyard-${id}`,
    title: titleOf(id),
    description: descriptions[kind],
    variable: id.replaceAll('-', '_').toUpperCase(),
    api: apiVersion,
    version: packageVersion(),
  }
  const files = new Map<string, string>()
  for (const folder of ['every', kind]) {
    const root = new URL(`./templates/${folder}/`, import.meta.url)
    for (const name of await readdir(fileURLToPath(root))) {
      const template = await readFile(new URL(name, root), 'utf8')
      files.set(name.replace(/\.mustache$/, ''), mustache.render(template, view, {}, { escape: String }))
    }
  }
  return files
}

const titleOf = (id: string): string => {
  const words = id.replaceAll('-', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
