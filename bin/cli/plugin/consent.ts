import { createInterface } from 'node:readline/promises'

/** Shows what a plugin asks for and has the operator accept it. Throws when the operator does not. */
export async function accept(id: string, asked: readonly string[], yes: boolean): Promise<void> {
  if (asked.length === 0 || yes) return
  const list = asked.join(', ')
  if (!process.stdin.isTTY) throw new Error(`${id} asks for ${list}: accept this with --yes`)
  if (!(await agrees(`Allow ${id}: ${list}?`)))
    throw new Error(`${id} was not allowed ${list}; nothing was changed`)
}

/** Has the operator agree that what a plugin stored is erased. Throws when the operator does not. */
export async function acceptErasure(id: string, yes: boolean): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY)
    throw new Error(`erasing the stored data of ${id} cannot be undone: confirm it with --yes`)
  if (!(await agrees(`Erase the stored data of ${id} for good?`)))
    throw new Error(`nothing was erased, and nothing else was changed`)
}

async function agrees(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
