import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { catalogueFolder, cataloguePages } from './catalogue/pages.ts'

/** Writes the catalogue of the modules, and removes the pages of modules that are gone. */
const pages = await cataloguePages()
await mkdir(catalogueFolder, { recursive: true })
for (const name of await readdir(catalogueFolder))
  if (!pages.has(name)) await rm(path.join(catalogueFolder, name))
for (const [name, text] of pages) await writeFile(path.join(catalogueFolder, name), text)
console.log(`${pages.size - 1} modules.`)
