import { z } from 'zod'
import { type Detection, defineModule, type Span } from '#kernel'
import {
  type Finder,
  findAll,
  hiddenFinder,
  hiddenOpenFrom,
  hiddenReach,
  lookAlikeFinder,
  lookAlikeReach,
  readAsLatin,
  styledFinder,
} from '#kit'

export default defineModule({
  settings: z.strictObject({
    action: z.enum(['strip', 'normalize', 'block']).default('strip').meta({
      title: 'Action',
      description:
        'What happens to hidden characters: they are removed; removed, and words in styled letters written in plain ones; or the request is refused. Soft hyphens and byte order marks are only ever removed.',
    }),
    homoglyphs: z.enum(['flag', 'replace', 'block', 'off']).default('flag').meta({
      title: 'Look-alikes',
      description:
        'What happens to words of a request that mix Latin letters with look-alikes of other scripts: the trace tells of them, they are written in Latin letters, or the request is refused.',
    }),
    replies: z.boolean().default(true).meta({
      title: 'Replies',
      description: 'Whether answers are searched for hidden characters too.',
    }),
  }),

  setup({ settings: { action, homoglyphs, replies } }) {
    const hidden: Finder<Span> = (text, from) => {
      const found = hiddenFinder(text, from)
      if (!found) return undefined
      return action === 'block' && found.label !== 'soft_hyphen'
        ? { ...found, action: 'block' }
        : { ...found, action: 'replace', replacement: '' }
    }
    const finders = [
      hidden,
      ...(action === 'normalize' ? [styled] : []),
      ...(homoglyphs === 'off' ? [] : [lookAlikes(homoglyphs)]),
    ]
    const request: Detection = {
      reach: lookAlikeReach,
      verdict: 'cleaned',
      refusal: 'The content was refused: it contains characters that are hidden or that imitate others.',
      scan: (text, _place, _call, from) => findAll(finders, text, from),
    }
    const reply: Detection = {
      ...request,
      cleans: true,
      reach: hiddenReach,
      scan: (text, _place, _call, from) => findAll([hidden], text, from),
      open: (text, _call, from) => hiddenOpenFrom(text, from),
    }
    return { pure: true, detect: { request, ...(replies && { reply }) } }
  },
})

const styled: Finder<Span> = (text, from) => {
  const found = styledFinder(text, from)
  if (!found) return undefined
  const { start, end, plain: replacement } = found
  return { start, end, label: 'styled_letter', action: 'replace', replacement }
}

function lookAlikes(wanted: 'flag' | 'replace' | 'block'): Finder<Span> {
  return (text, from) => {
    const found = lookAlikeFinder(text, from)
    if (!found) return undefined
    const span = { ...found, label: 'look_alike' }
    if (wanted === 'block') return { ...span, action: 'block' }
    if (wanted === 'flag') return { ...span, action: 'note' }
    return { ...span, action: 'replace', replacement: readAsLatin(text.slice(found.start, found.end)) }
  }
}
