import { open, readFile } from 'node:fs/promises'
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
    const rest = lines.pop()!
    if (!rest.startsWith(beginning.slice(0, rest.length))) throw noCheckpoint(lines.length + 1)
    return lines.map((line, at) => {
      const parsed = checkpointSchema.safeParse(jsonOf(line))
      if (!parsed.success) throw noCheckpoint(at + 1)
      return parsed.data
    })
  }

  /** Resolves when it is on disk. Adds to nothing but checkpoints. */
  async add(checkpoint: Checkpoint): Promise<void> {
    const text = await this.#text()
    if (text !== '') await this.read()
    const end = text.lastIndexOf('\n') + 1
    const file = await open(this.path, 'a', 0o600)
    try {
      if (end < text.length) await file.truncate(Buffer.byteLength(text.slice(0, end)))
      await file.write(`${JSON.stringify(checkpoint)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
  }

  async #text(): Promise<string> {
    try {
      return await readFile(this.path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
      throw error
    }
  }
}

/** How each line begins. */
const beginning = '{"ledger":"ldg_'

const noCheckpoint = (line: number) => conflict(`Line ${line} of the file of checkpoints is no checkpoint.`)

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
