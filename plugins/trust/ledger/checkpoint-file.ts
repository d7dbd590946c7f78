import { type FileHandle, open, readFile } from 'node:fs/promises'
import { z } from 'zod'
import { conflict } from '#kernel'

export const checkpointSchema = z.object({
  ledger: z.string(),
  seq: z.int().min(1),
  head_hash: z.string().meta({ description: 'Hash of the entry at seq.' }),
  created_at: z.string().meta({ format: 'date-time' }),
  key_id: z.string(),
  signature: z.string().meta({
    description:
      'Ed25519, base64url, over the canonical JSON of created_at, head_hash, ledger and seq. GET /api/signing-keys has the keys.',
  }),
})
export type Checkpoint = z.infer<typeof checkpointSchema>

/** The file that checkpoints are added to, one JSON text a line: outside of the store, so that who changes one changes not both. */
export class CheckpointFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** In their order; none while there is no file. A last line that a kill cut off is left out. Throws a conflict for a line that is none. */
  async read(): Promise<Checkpoint[]> {
    const lines = (await this.#text()).split('\n')
    if (!isBegun(lines.pop()!)) throw noCheckpoint(lines.length + 1)
    return lines.map((line, at) => {
      const checkpoint = checkpointIn(line)
      if (!checkpoint) throw noCheckpoint(at + 1)
      return checkpoint
    })
  }

  /** The last one, undefined while there is none. It is found at the end, without those before. Throws a conflict as `read` does. */
  async last(): Promise<Checkpoint | undefined> {
    const file = await open(this.path, 'r').catch(ifThere)
    if (!file) return undefined
    try {
      return (await endOf(file)).last
    } finally {
      await file.close()
    }
  }

  /** Resolves when it is on disk. Adds to nothing that does not end with a checkpoint. */
  async add(checkpoint: Checkpoint): Promise<void> {
    const file = await open(this.path, 'a+', 0o600)
    try {
      const { length, size } = await endOf(file)
      if (length < size) await file.truncate(length)
      await file.write(`${JSON.stringify(checkpoint)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
  }

  async #text(): Promise<string> {
    return (await readFile(this.path, 'utf8').catch(ifThere)) ?? ''
  }
}

/** How each line begins. */
const beginning = '{"ledger":"ldg_'
/** More bytes than a line and a part of one have. */
const mostOfTwo = 8192

interface End {
  readonly last: Checkpoint | undefined
  /** Bytes of the whole lines, and of all. */
  readonly length: number
  readonly size: number
}

/** The end of a file. Throws a conflict where that is no checkpoint. */
async function endOf(file: FileHandle): Promise<End> {
  const { size } = await file.stat()
  const from = Math.max(0, size - mostOfTwo)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
  const text = buffer.toString('latin1', 0, bytesRead)
  const length = text.lastIndexOf('\n') + 1
  const line = text.slice(0, length).split('\n').at(-2)
  const last = line === undefined ? undefined : checkpointIn(line)
  const isNone = length === 0 && from === 0
  if (!(last || isNone) || !isBegun(text.slice(length)))
    throw conflict('The file of checkpoints ends with what is no checkpoint.')
  return { last, length: from + length, size }
}

const isBegun = (rest: string): boolean => rest.startsWith(beginning.slice(0, rest.length))

const noCheckpoint = (line: number) => conflict(`Line ${line} of the file of checkpoints is no checkpoint.`)

function checkpointIn(line: string): Checkpoint | undefined {
  try {
    return checkpointSchema.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

function ifThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
