import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { linesOf } from '#kit'

/** Matches the name of a sink in the name of one of its files. */
const ofSink = /^([\w-]+)(?:\.\d+)?\.jsonl$/

/** The files in the folder, by the names of the sinks that write them or once did. */
export async function filesBySink(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = entries.flatMap((entry) => {
    const name = entry.isFile() ? ofSink.exec(entry.name)?.[1] : undefined
    return name === undefined ? [] : [{ name, file: path.join(folder, entry.name) }]
  })
  const named = Map.groupBy(found, ({ name }) => name)
  return new Map([...named].map(([name, files]) => [name, files.map(({ file }) => file)]))
}

/** How many lines of a user are in these files. */
export async function countIn(files: readonly string[], userId: string): Promise<number> {
  let count = 0
  for (const file of files)
    for await (const line of linesOf(createReadStream(file))) if (isOf(line, userId)) count += 1
  return count
}

/** Writes files anew without the lines of a user; returns how many these were. */
export async function eraseIn(files: readonly string[], userId: string): Promise<number> {
  let erased = 0
  for (const file of files) erased += await eraseInOne(file, userId)
  return erased
}

async function eraseInOne(file: string, userId: string): Promise<number> {
  const next = `${file}.next`
  const to = await open(next, 'w', 0o600)
  let erased = 0
  try {
    for await (const line of linesOf(createReadStream(file)))
      if (isOf(line, userId)) erased += 1
      else await to.writev([line, lineEnd])
    await to.sync()
  } finally {
    await to.close()
  }
  if (erased > 0) await rename(next, file)
  else await rm(next)
  return erased
}

const lineEnd = Buffer.from('\n')

function isOf(line: Buffer, userId: string): boolean {
  try {
    const { user_id, source_user_id } = JSON.parse(line.toString()) as Readonly<Record<string, unknown>>
    return user_id === userId || source_user_id === userId
  } catch {
    return false
  }
}
