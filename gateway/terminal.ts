import { styleText } from 'node:util'

const colors = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const
const isLevel = (level: string): level is keyof typeof colors => Object.hasOwn(colors, level)

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal would obey.
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const plain = (text: string) => text.replace(control, '')

/** A JSON log line for a person at a terminal: one line, and an error's stack below it. */
export function forTerminal(line: string): string {
  const { level, time, component, msg, err, ...rest } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const name = String(level)
  const tag = name.toUpperCase().padEnd(5)
  const facts = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const stack = (err as { readonly stack?: unknown } | undefined)?.stack
  const head = [
    styleText('gray', String(time).slice(11, 23)),
    isLevel(name) ? styleText(colors[name], tag) : tag,
    ...(component === undefined ? [] : [styleText('cyan', plain(String(component)))]),
    ...(msg === undefined ? [] : [plain(String(msg).replaceAll('\n', ' '))]),
    ...facts.map((fact) => styleText('gray', plain(fact))),
  ].join(' ')
  return typeof stack === 'string' ? `${head}\n${plain(stack).replace(/^/gm, '    ')}\n` : `${head}\n`
}
