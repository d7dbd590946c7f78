import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import type { Route } from '../../kernel/route.ts'
import { notFound } from '../errors.ts'
import { type FileAnswer, fileAnswer } from './file-answer.ts'

interface Asked {
  readonly hash: string
  readonly file: string
}

/** The files of a folder, for pages. */
export interface Assets {
  /** Answers with them, to anybody. */
  readonly route: Route<Asked, unknown, unknown, FileAnswer>
  /** Where a page finds a file, such as `app.js` or `icons/plus.svg`. Throws when there is none of this name. */
  url(name: string): string
}

/** Bytes of a folder that are kept in memory. */
const mostBytes = 32 * 1024 * 1024

/**
 * Serves the files of a folder below a path, as they are now. The path has their hash, so that browsers keep them for
 * ever and a change is seen at once; files that name one another by relative paths find each other's same version. `more` has
 * files from elsewhere, such as those of a package, by the names under which they are served.
 */
export async function assets(
  folder: string,
  at: string,
  more: ReadonlyMap<string, string> = new Map(),
): Promise<Assets> {
  const files = readAll(folder, more)
  const digest = createHash('sha256')
  for (const [name, bytes] of files) digest.update(JSON.stringify([name, bytes.length])).update(bytes)
  const hash = digest.digest('hex').slice(0, 16)
  return {
    url(name) {
      if (!files.has(name)) throw new Error(`There is no file ${name} in ${folder}.`)
      return `${at}/${hash}/${name.split('/').map(encodeURIComponent).join('/')}`
    },
    route: {
      method: 'get',
      path: `${at}/{hash}/{+file}`,
      access: 'public',
      summary: 'A file that a page needs',
      params: z.object({ hash: z.string(), file: z.string() }),
      returns: fileAnswer,
      handle({ params: { hash: asked, file } }) {
        const body = asked === hash ? files.get(file) : undefined
        if (!body) throw notFound('There is no such file, or it has changed; load the page again.')
        const cache = 'public, max-age=31536000, immutable'
        return { body, type: path.extname(file) || 'bin', etag: hash, cache }
      },
    },
  }
}

/**
 * Files by their paths below the folder, in the order of these; those whose names begin with a dot are left out. Read at once, as
 * imports are: a hundred small files one by one from other threads take a twelfth of a gateway's start.
 */
function readAll(folder: string, more: ReadonlyMap<string, string>): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((name) => !/(^|\/)\./.test(name))
    .concat(...more.keys())
    .sort()
  const files = new Map<string, Buffer>()
  let size = 0
  for (const name of names) {
    const bytes = readFileSync(more.get(name) ?? path.join(folder, name))
    size += bytes.length
    if (size > mostBytes) throw new Error(`The files in ${folder} have more than ${mostBytes} bytes.`)
    files.set(name, bytes)
  }
  return files
}
