import type { Config } from '../../config.ts'
import { explain } from '../../plugin/manifest.ts'
import { configuration } from '../configuration.ts'
import { type Gateway, type GatewayOptions, reachGateway } from './gateway.ts'

export interface SessionOptions extends GatewayOptions {
  readonly json?: boolean
}

export interface Session {
  readonly config: Config
  readonly gateway: Gateway
  /** Tells a person how it goes; nothing with `--json`. */
  say(line: string): void
}

/**
 * Runs a command on the plugins of the configured gateway and prints what it returns, with `--json` as JSON. What it
 * throws is told in one line, exit code 1.
 */
export async function inSession<R extends object>(
  options: SessionOptions,
  run: (session: Session) => Promise<R>,
  summary: (result: R) => string,
): Promise<void> {
  const config = configuration()
  if (!config) return
  const { json = false } = options
  try {
    const gateway = await reachGateway(config, options)
    try {
      const say = json ? () => {} : (line: string) => console.log(line)
      const result = await run({ config, gateway, say })
      console.log(json ? JSON.stringify(result, null, 2) : summary(result))
    } finally {
      await gateway.close()
    }
  } catch (error) {
    if (json) console.log(JSON.stringify({ error: explain(error) }, null, 2))
    else console.error(explain(error))
    process.exitCode = 1
  }
}
