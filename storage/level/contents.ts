import type { StoredPart } from '../index.ts'
import type { Backing } from './backing.ts'
import type { Database, KeyRange } from './group-commit.ts'
import { prefixRange } from './keys.ts'
import { LevelLog } from './log.ts'
import type { LogFormat } from './log-blocks.ts'
import { CollectionKeys } from './row-writer.ts'

/** The letter with which the keys of each kind of part begin. */
const kinds = { c: 'collection', l: 'log', s: 'sequence', n: 'counters' } as const

type Letter = keyof typeof kinds

const letters = Object.keys(kinds) as Letter[]

/** The keys of all parts whose path begins so, by kind. The prefix ends in an ASCII character. */
export function rangesOf(prefix: string): KeyRange[] {
  return letters.map((letter) => prefixRange(`${letter}/${prefix}`))
}

/** The parts on disk whose path begins so; each is found with one step, however much is in it. */
export async function contentsOf(backing: Backing, prefix: string, format: LogFormat): Promise<StoredPart[]> {
  const parts: StoredPart[] = []
  for (const letter of letters)
    for await (const path of pathsOf(backing.database, letter, prefix))
      parts.push({ kind: kinds[letter], path, entries: await entriesIn(backing, letter, path, format) })
  return parts
}

/** The paths of the parts of one kind on disk that begin so. */
export async function* pathsOf(database: Database, letter: Letter, prefix: string): AsyncGenerator<string> {
  const { gte, lt } = prefixRange(`${letter}/${prefix}`)
  let from = gte
  for (;;) {
    const [key] = await database.keys({ gte: from, lt, limit: 1 }).all()
    if (key === undefined) return
    const path = key.slice(2, key.indexOf('!'))
    yield path
    from = prefixRange(`${letter}/${path}!`).lt
  }
}

async function entriesIn(backing: Backing, letter: Letter, path: string, format: LogFormat): Promise<number> {
  const { database } = backing
  switch (letter) {
    case 'c':
      return Number(database.getSync(new CollectionKeys(path).count) ?? 0)
    case 'l':
      return (await new LevelLog(backing, path, unread, format).list({ limit: 0 })).total
    case 's':
      return Number(database.getSync(`s/${path}!n`) ?? 0)
    case 'n':
      return (await database.keys(prefixRange(`n/${path}!`)).all()).length
  }
}

/** Rows are counted, and none is appended. */
const unread = { id: () => 'any', time: () => 0 }
