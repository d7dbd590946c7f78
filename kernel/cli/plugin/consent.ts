import { createInterface } from 'node:readline/promises'

/** Shows what a plugin asks for and has somebody accept it. Throws when nobody does. */
export async function accept(id: string, asked: readonly string[], yes: boolean): Promise<void> {
  if (asked.length === 0 || yes) return
  const list = asked.join(', ')
  if (!process.stdin.isTTY) throw new Error(`${id} asks for ${list}: accept that with --yes`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question(`Allow ${id}: ${list}? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new Error(`${id} was not allowed ${list}; nothing was changed`)
  } finally {
    terminal.close()
  }
}
