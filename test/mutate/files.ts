import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { companions, notCode } from './companions.ts'

/** The files with code to mutate in a folder, or the file itself. */
export async function listSources(folder: string): Promise<string[]> {
  if ((await stat(folder)).isFile()) return [folder]
  const files = await listed(folder)
  return files.filter((file) => !file.endsWith('.test.ts') && !notCode.some((part) => part.test(file)))
}

/** The tests in a folder and beside a file, with those from elsewhere that are known to test it. */
export async function chooseTests(folder: string, named?: readonly string[]): Promise<string[]> {
  const isFile = (await stat(folder)).isFile()
  const near = isFile ? [folder.replace(/\.ts$/, '.test.ts')] : await listed(folder)
  const elsewhere = companions.filter(([of]) => folder.startsWith(of) || of.startsWith(`${folder}/`))
  const wanted = named ?? [...near, ...elsewhere.flatMap(([, tests]) => tests)]
  const found = await Promise.all(
    wanted.map(async (file) => {
      const about = await stat(file).catch(() => undefined)
      return about?.isDirectory() ? listed(file) : about ? [file] : []
    }),
  )
  return [...new Set(found.flat())].filter((file) => file.endsWith('.test.ts'))
}

async function listed(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
}
