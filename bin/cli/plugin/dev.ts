import type { DevOptions } from './dev/dev.ts'

/** Runs `switchyard plugin dev`. It starts gateways of its own, so it is loaded when it is asked for, not with every command. */
export async function dev(folder: string | undefined, options: DevOptions): Promise<void> {
  const { dev } = await import('./dev/dev.ts')
  await dev(folder ?? '.', options)
}
