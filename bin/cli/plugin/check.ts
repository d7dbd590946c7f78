import path from 'node:path'

/**
 * Runs the conformance kit on the plugin in a folder: exit code 0 when it keeps to everything, 1 when it does not. The
 * process ends whatever the plugin left running.
 */
export async function check(folder: string, { json = false }: { json?: boolean }): Promise<void> {
  // The kit starts a gateway of its own, so it is loaded when it is asked for, not with every command.
  const { checkPlugin } = await import('../../../test/conformance/check.ts')
  const checks = await checkPlugin(path.resolve(folder))
  const ok = checks.every((result) => result.ok)
  if (json) console.log(JSON.stringify({ ok, checks }, null, 2))
  else {
    for (const { check, ok, problem } of checks)
      console.log(`${ok ? '✓' : '✗'} ${check}${problem ? `: ${problem}` : ''}`)
  }
  process.exit(ok ? 0 : 1)
}
