import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'

/** The bytes of a file that LevelDB made with these rows: a write-ahead file, or a table when it is compacted. */
export async function madeByLevel(
  rows: ReadonlyMap<string, string>,
  { table }: { readonly table: boolean },
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'made-'))
  const database = new Level<string, string>(folder)
  for (const [key, value] of rows) await database.put(key, value)
  if (table) {
    await database.close()
    await database.open()
  }
  const names = (await readdir(folder)).filter((name) => name.endsWith(table ? '.ldb' : '.log'))
  const bytes = await readFile(join(folder, names.sort()[0]!))
  await database.close()
  await rm(folder, { recursive: true })
  return bytes
}
