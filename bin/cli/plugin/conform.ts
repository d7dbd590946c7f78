import { execFile } from 'node:child_process'
import { z } from 'zod'

const report = z.object({
  checks: z.array(z.object({ check: z.string(), ok: z.boolean(), problem: z.string().optional() })),
})

export type Conformance = z.infer<typeof report>['checks']

/** How long the kit may take, in milliseconds. */
const limitMs = 10 * 60_000

interface ConformOptions {
  /** Ends the process. */
  readonly signal?: AbortSignal
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
  { signal, temporary = process.env.TMPDIR }: ConformOptions = {},
): Promise<Conformance> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, HOME, TMPDIR: temporary, NODE_COMPILE_CACHE }
  const options = { cwd, env, timeout: limitMs, maxBuffer: 2 ** 24 }
  const args = [process.argv[1]!, 'plugin', 'check', folder, '--json']
  const { out, err, late } = await new Promise<{ out: string; err: string; late: boolean }>((resolve) => {
    const kit = execFile(process.execPath, args, options, (error, out, err) =>
      resolve({ out, err, late: error?.killed === true }),
    )
    signal?.addEventListener('abort', () => kit.kill('SIGKILL'))
  })
  signal?.throwIfAborted()
  if (late) throw new Error(`the conformance kit took longer than ${limitMs / 60_000} minutes`)
  try {
    return report.parse(JSON.parse(afterPrints(out))).checks
  } catch (error) {
    const said = err.trim().split('\n').at(-1)
    throw new Error(`the conformance kit ended without a result${said ? `: ${said}` : ''}`, { cause: error })
  }
}

/** What the plugin itself prints comes before the report, whose first line is a lone brace. */
const afterPrints = (out: string): string => out.slice(out.lastIndexOf('\n{\n') + 1)
