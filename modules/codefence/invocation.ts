import type { Command, Word } from 'unbash'

/** A command as it will run: without `sudo` and what else stands before a command, its name without a folder. */
export interface Invocation {
  readonly name: string
  readonly args: readonly Word[]
  /** The values of the arguments, with variables as they are written. */
  readonly values: readonly string[]
  readonly start: number
  readonly end: number
}

/** Commands that run the command behind them, and those of their options that take a value. */
const carriers: Readonly<Record<string, RegExp>> = {
  sudo: /^-[ugpCTRhD]$/,
  doas: /^-[uC]$/,
  env: /^-[uCS]$/,
  xargs: /^-[ILnPsdEa]$/,
  nice: /^-n$/,
  ionice: /^-[cnp]$/,
  timeout: /^-[ks]$/,
  stdbuf: /^-[ioe]$/,
  time: /^-[fo]$/,
  nohup: /^$/,
  setsid: /^$/,
  command: /^$/,
  builtin: /^$/,
  exec: /^-a$/,
  busybox: /^$/,
}

/** The invocation of a command; undefined for one that only sets variables. */
export function invocationOf({ name, args: all, pos, end }: Command): Invocation | undefined {
  const words = [name, ...all].filter((word): word is Word => word?.type === 'Word')
  for (let at = 0; at < words.length; ) {
    const called = baseOf(words[at]!.value)
    const takesValue = Object.hasOwn(carriers, called) ? carriers[called] : undefined
    const rest = words.slice(at + 1)
    if (!takesValue || rest.length === 0)
      return { name: called, args: rest, values: rest.map(({ value }) => value), start: pos, end }
    at += 1
    while (at < words.length && isBefore(words[at]!.value, called))
      at += takesValue.test(words[at]!.value) ? 2 : 1
  }
  return undefined
}

/** Options, and what `env` and `timeout` have before the command. */
const isBefore = (value: string, carrier: string): boolean =>
  value.startsWith('-') ||
  (carrier === 'env' && /^\w+=/.test(value)) ||
  (carrier === 'timeout' && /^[\d.]+[smhd]?$/.test(value))

const baseOf = (value: string): string => value.slice(value.lastIndexOf('/') + 1)

export const isShell = (name: string): boolean => /^(?:ba|z|da|k|a|fi)?sh$/.test(name)
export const isInterpreter = (name: string): boolean =>
  isShell(name) || /^(?:python[\d.]*|node|deno|bun|perl|ruby|php)$/.test(name)
export const isDownload = (name: string): boolean =>
  /^(?:curl|wget|fetch|aria2c|http|https|lwp-download)$/.test(name)
