import { readFileSync, writeFileSync } from 'node:fs'
import { markdown, type Table } from './table.ts'

const FILE = new URL('results.md', import.meta.url)
const HEAD = '# Results\n\nWritten by the benchmark; `README.md` says how to read it.\n'

/** A chapter of results: what was measured, on what, and the tables. */
export interface Chapter {
  readonly title: string
  readonly machine: Readonly<Record<string, string>>
  readonly notes: readonly string[]
  readonly tables: readonly Table[]
}

export function chapterText({ title, machine, notes, tables }: Chapter): string {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name.replaceAll('_', ' ')}: ${value}`)
  return [`## ${title}`, facts.join('\n'), ...notes, ...tables.map((table) => markdown(table))].join('\n\n')
}

/** Puts the chapter into results.md, in place of the one of that title; the other chapters stay. */
export function saveChapter(chapter: Chapter): void {
  const kept = readChapters().filter((text) => !text.startsWith(`## ${chapter.title}\n`))
  const chapters = [...kept, chapterText(chapter)].sort()
  writeFileSync(FILE, `${[HEAD, ...chapters].join('\n')}\n`.replace(/\n{3,}/g, '\n\n'))
}

function readChapters(): string[] {
  try {
    const text = readFileSync(FILE, 'utf8')
    return text
      .split(/^(?=## )/m)
      .slice(1)
      .map((chapter) => `${chapter.trim()}\n`)
  } catch {
    return []
  }
}
