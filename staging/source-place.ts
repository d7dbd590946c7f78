import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** A line of a plugin's file. */
interface Place {
  readonly file: string
  readonly line: number
}

/** Files that are looked through for a syntax error, and how long each may take, in milliseconds. */
const maxFiles = 50
const checkMs = 5_000

/** The longest piece of a line that is shown. */
const shownLength = 120

/**
 * The error that a plugin's code threw, with the file and the line of the plugin that it came from, and for syntax errors with
 * the line itself; unchanged where there is no such place. Paths are relative to the plugin's folder.
 */
export async function locate(error: unknown, entry: string): Promise<unknown> {
  if (!(error instanceof Error)) return error
  const root = await rootOf(entry)
  const message = error.message.replaceAll(root + path.sep, '')
  const isSyntax = error instanceof SyntaxError
  const place = placeIn(error.stack ?? '', root) ?? (isSyntax ? await findSyntaxError(root) : undefined)
  if (!place) return message === error.message ? error : new Error(message, { cause: error })
  const text = isSyntax ? `: ${await textAt(place, root)}` : ''
  return new Error(`${message} (${place.file}:${place.line}${text})`, { cause: error })
}

/** The plugin's own folder: the nearest with a manifest in it. */
async function rootOf(entry: string): Promise<string> {
  const above = path.dirname(entry)
  for (let at = above; at !== path.dirname(at); at = path.dirname(at)) {
    for (const name of ['manifest.json', 'package.json'])
      if (await stat(path.join(at, name)).catch(() => undefined)) return at
  }
  return above
}

/** The first file of the folder that a stack names. */
function placeIn(stack: string, root: string): Place | undefined {
  const url = `${pathToFileURL(root).href}/`
  for (const [, name = '', line] of stack.matchAll(/(file:\/\/[^\s)]+?):(\d+)/g))
    if (name.startsWith(url)) return { file: decodeURIComponent(name.slice(url.length)), line: Number(line) }
  return undefined
}

/** The runtime keeps to itself where JavaScript cannot be parsed, and tells it on its command line. */
async function findSyntaxError(root: string): Promise<Place | undefined> {
  const all = await readdir(root, { recursive: true })
  const files = all.filter((name) => /\.[cm]?js$/.test(name) && !/(^|[/\\])node_modules[/\\]/.test(name))
  for (const file of files.sort().slice(0, maxFiles)) {
    const line = await lineOfError(path.join(root, file))
    if (line !== undefined) return { file, line }
  }
  return undefined
}

function lineOfError(file: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], { timeout: checkMs, env: {} }, (error, _, said) => {
      const line = /^.*:(\d+)\n/.exec(said)?.[1]
      resolve(error && line !== undefined ? Number(line) : undefined)
    })
  })
}

async function textAt({ file, line }: Place, root: string): Promise<string> {
  const text = await readFile(path.join(root, file), 'utf8').catch(() => '')
  return (text.split('\n')[line - 1] ?? '').trim().slice(0, shownLength)
}
