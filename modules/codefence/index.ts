import { hash } from 'node:crypto'
import { z } from 'zod'
import { type Detection, defineModule, type Span } from '#kernel'
import { type Danger, dangerKinds, severities } from './danger.ts'
import { Examination } from './examine.ts'
import { blockContext, blocksIn, openFrom } from './fences.ts'
import { examiners, languages } from './languages.ts'
import { Packages } from './packages.ts'

const severity = z.enum(severities)

export default defineModule({
  settings: z.strictObject({
    action: z.enum(['annotate', 'redact', 'block']).default('annotate').meta({
      title: 'Action',
      description:
        'What happens to dangerous code in an answer: the trace and X-Code-Findings tell of it, the dangerous part is replaced by a mark, or the answer is refused.',
    }),
    act_from: severity.default('high').meta({
      title: 'Acts from',
      description: 'The severity from which code is redacted or blocked. What is less severe is annotated.',
    }),
    report_from: severity.default('medium').meta({
      title: 'Reports from',
      description: 'What is less severe is not mentioned.',
    }),
    languages: z
      .array(z.enum(languages))
      .min(1)
      .default([...languages])
      .meta({
        title: 'Languages',
        description: 'The languages that are read. JavaScript includes TypeScript.',
      }),
    kinds: z
      .array(z.enum(dangerKinds))
      .min(1)
      .default([...dangerKinds])
      .meta({ title: 'Kinds', description: 'What is looked for.' }),
    known_packages: z.array(z.string().min(1).max(214)).max(10_000).default([]).meta({
      title: 'Known packages',
      description: 'Names of packages that are known beside those that the module knows, such as your own.',
    }),
    only_known_packages: z.boolean().default(false).meta({
      title: 'Only known packages',
      description:
        'Whether a package that is not known is a finding. A name that resembles a known one always is.',
    }),
  }),

  async setup({ settings, slot, report }) {
    const { action, kinds, known_packages, only_known_packages } = settings
    const packages = new Packages(known_packages, only_known_packages)
    const examination = new Examination(await examiners(settings.languages, packages))
    const wanted = new Set(kinds)
    const rank = (level: Danger['severity']): number => severities.indexOf(level)
    const [reported, acted] = [rank(settings.report_from), rank(settings.act_from)]
    const told = slot(() => new Set<string>())

    const spanOf = ({ start, end, kind: label, severity }: Danger): Span => {
      const span = { start, end, label, severity }
      if (action === 'annotate' || rank(severity) < acted) return { ...span, action: 'note' }
      // Of a block that was not read, no part can be said to be harmless.
      if (action === 'block' || label === 'unread') return { ...span, action: 'block' }
      return { ...span, action: 'replace', replacement: `[REDACTED:${label}]` }
    }

    const reply: Detection = {
      reach: blockContext,
      context: blockContext,
      refusal: 'The answer was withheld: it has code that the policy for code does not allow.',
      applies: ({ operation }) => operation !== 'embedding',
      scan(text, { kind }, _call, from) {
        if (kind !== 'content') return []
        return blocksIn(text, from)
          .flatMap((block) => examination.dangersIn(text, block))
          .filter(
            (danger) => danger.start >= from && wanted.has(danger.kind) && rank(danger.severity) >= reported,
          )
          .filter(({ start, end }) => end > start)
          .map(spanOf)
      },
      open: (text, _call, from) => openFrom(text, from),
      found({ label, severity }, _place, call) {
        report(action, `${label} (${severity})`)
        const all = told(call).add(`${label};${severity}`)
        call.trace.header('x-code-findings', [...all].join(', '))
      },
    }
    const arrangement = hash('sha256', JSON.stringify(settings))
    return { varies: () => arrangement, detect: { reply } }
  },
})
