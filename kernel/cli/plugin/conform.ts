import { execFile } from 'node:child_process'
import { z } from 'zod'

const report = z.object({
  checks: z.array(z.object({ check: z.string(), ok: z.boolean(), problem: z.string().optional() })),
})

export type Conformance = z.infer<typeof report>['checks']

/** How long the kit may take, in milliseconds. */
const limitMs = 10 * 60_000

/**
 * Runs the conformance kit on the plugin in a folder, in a process that knows nothing of this gateway's secrets.
 * Resolves with what was checked; throws when the kit itself gives no answer.
 */
export async function conform(folder: string, cwd: string): Promise<Conformance> {
  const { PATH, HOME, TMPDIR } = process.env
  const options = { cwd, env: { PATH, HOME, TMPDIR }, timeout: limitMs, maxBuffer: 2 ** 24 }
  const args = [process.argv[1]!, 'plugin', 'check', folder, '--json']
  const { out, err } = await new Promise<{ out: string; err: string }>((resolve) => {
    execFile(process.execPath, args, options, (_, out, err) => resolve({ out, err }))
  })
  try {
    return report.parse(JSON.parse(out)).checks
  } catch (error) {
    const said = err.trim().split('\n').at(-1)
    throw new Error(`the conformance kit ended without a result${said ? `: ${said}` : ''}`, { cause: error })
  }
}
