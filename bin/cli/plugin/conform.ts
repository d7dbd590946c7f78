import { z } from 'zod'
import { runProgram } from '../packages/program.ts'

const report = z.object({
  checks: z.array(z.object({ check: z.string(), ok: z.boolean(), problem: z.string().optional() })),
})

export type Conformance = z.infer<typeof report>['checks']

/** The default time limit of the kit, in milliseconds. */
const usualMs = 10 * 60_000

interface ConformOptions {
  /** Ends the process. */
  readonly signal?: AbortSignal
  /** How long it may take, in milliseconds. */
  readonly limitMs?: number | undefined
  /** Where it puts what it needs until it ends. */
  readonly temporary?: string | undefined
}

/**
 * Runs the conformance kit on the plugin in a folder, in a process that knows nothing of this gateway's secrets.
 * Resolves with what was checked; throws when the kit itself gives no answer, or the signal ends it.
 */
export async function conform(
  folder: string,
  cwd: string,
  { signal, limitMs = usualMs, temporary = process.env.TMPDIR }: ConformOptions = {},
): Promise<Conformance> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, HOME, TMPDIR: temporary, NODE_COMPILE_CACHE }
  const args = [process.argv[1]!, 'plugin', 'check', folder, '--json']
  const name = 'the conformance kit'
  const { out, err } = await runProgram(process.execPath, args, { name, cwd, env, limitMs, signal })
  try {
    return report.parse(JSON.parse(afterPrints(out))).checks
  } catch (error) {
    const said = err.trim().split('\n').at(-1)
    throw new Error(`the conformance kit ended without a result${said ? `: ${said}` : ''}`, { cause: error })
  }
}

/** The plugin's own output comes before the report, whose first line is a lone brace. */
const afterPrints = (out: string): string => out.slice(out.lastIndexOf('\n{\n') + 1)
