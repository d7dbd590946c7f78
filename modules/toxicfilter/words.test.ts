import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Detection } from '#kernel'
import { cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { wordTest } from './matcher.ts'
import { wordCategories } from './words.ts'
import { longest, openFrom, wordsIn } from './words-in.ts'

const word = await wordTest(wordCategories, [], [])
const found = (text: string): string[] => wordsIn(text, 0, word).map(({ category }) => category)

describe('a word is found in the spelling', () => {
  test.each(
    [
      [
        'fuck',
        'FUCKING',
        'fuuuuck',
        'f*ck',
        'f**k',
        'f.u.c.k',
        'f-u-c-k',
        'f u c k',
        'F  U  C  K',
        'fυck',
        'fuсk',
        'ⓕⓤⓒⓚ',
        '𝒇𝒖𝒄𝒌',
        'ｆｕｃｋ',
      ],
      [
        'phuck',
        'fvck',
        'fück',
        'f\u200bu\u200bck',
        'fu\u0301ck',
        'motherfucker',
        '"fuck"',
        '**fuck**',
        'fuck!',
        'clusterfuck',
      ],
      [
        'shit',
        'sh!t',
        '$hit',
        'sh1t',
        's h i t',
        's.h.i.t',
        's**t',
        'Shiiit',
        'bullsh1t',
        'sн1t'.replace('н', 'h'),
      ],
      [
        'bitch',
        'b!tch',
        'b1tch',
        'b*tch',
        'biiitch',
        'bitches',
        'cunt',
        'c*nt',
        'whore',
        'wh0re',
        'slut',
        'asshole',
        '@sshole',
        'a$$hole',
        'assh0le',
      ],
      [
        'Arschloch',
        'ARSCHL0CH',
        'Arschlöcher',
        'A r s c h l o c h',
        'Scheiße',
        'Scheisse',
        'sche!ße',
        'sch**ße'.replace('**', '*i'),
        'Hurensohn',
        'Hurens0hn',
        'Wichser',
        'Fotze',
        'F*tze',
        'gefickt',
        'Schlampe',
        'Miststück',
      ],
      [
        'putain',
        'connard',
        'c0nnard',
        'enculé',
        'salope',
        's@lope',
        'mierda',
        'm1erda',
        'gilipollas',
        'cabrón',
        'hijoputa',
        'cazzo',
        'str0nzo',
        'vaffanculo',
        'caralho',
        'merda',
      ],
    ].flat(),
  )('%s', (text) => expect(found(`So ${text} it`)).toEqual(['profanity']))

  test.each([
    'n1gger',
    'nigg3r',
    'N!GGER',
    'n i g g e r',
    'n*gger',
    'faggot',
    'f4ggot',
    'fagg0t',
    'kike',
    'retarded',
    'r e t a r d e d',
    'Kanake',
    'K@nake',
    'Schwuchtel',
    'Spast',
    'maricón',
    'bougnoule',
    'sudaca',
  ])('%s, a slur', (text) => expect(found(`So ${text} it`)).toEqual(['slur']))
})

test.each([
  'Scunthorpe, Penistone, Clitheroe and Lightwater are towns, and so are Essex, Sussex and Middlesex.',
  'Mr Cockburn, Mrs Dickinson, Dick Van Dyke, Mr Hancock, Mr Babcock, Peter Hiscock and Dr Wankel met Herr Fuchs.',
  'The assassin passed a class on classic bass; assets, assume, assorted, assistant, embassy, Assyria, grass.',
  'Shiitake, Matsushita, Yoshito, Fukushima, Fukuoka, Mississippi, Slutsk, Kung Fu and FC Hansa.',
  'A cockpit, a cockatoo, a cocktail, a peacock, a shuttlecock, a cuckoo, a titmouse, cumin and cucumber.',
  'The analyst reads an analysis of the canal; therapists grapple with drapes, scrapes and grapes.',
  'Basement, statistics, constitution, institute, title, competition, Uranus, tetanus, manuscript.',
  'Push it, mash it, and finish it; a hit, as hit; who re-read it; the pen is on the table.',
  'Summa cum laude, circumstances, document, accumulate, snigger, niggardly, retardant, ritardando.',
  'I a m h e r e. A B C D E F G. X Y Z. 1 2 3 4 5 6. e.g. i.e. U.S.A. f(x) = 2*x*y; a*b*c; s*t*u',
  'Der Barsch im Kanal, der Marsch, die Marschroute, barsch und harsch; Fagott, Ass, dick, dicker, Verdickung.',
  'Die Analyse der Regionalbahn; Nuttendorf gibt es nicht, Hürde schon; Kikeriki; Rückfahrt, Glückwunsch, Brücke.',
  'Le train est en retard; la dispute, le député, la réputation, amputer; un computer, une banane, la peluche.',
  'La computadora, la disputa, el diputado, el negro, cono, cajones; la reputación; el cabrito.',
  'Una mercanzia, il merlo, il pazzo, la pazienza; o porrão, a foto, a reforma, o motor.',
  'password, passed, hassle, cassette, Massachusetts, glass house, Kassel, Sassnitz, Passau.',
  'https://example.com/shell?id=45&q=class#top c++ $HOME/bin @user a@b.example 50% 3+4 ***bold*** __it__',
])('is not found in %j', (text) =>
  expect(wordsIn(text, 0, word).map(({ start, end }) => text.slice(start, end))).toEqual([]),
)

test('the mark covers the word and leaves what stands around it', () => {
  const text = 'Oh, **f*ck**! (sh1t)'
  expect(wordsIn(text, 0, word).map(({ start, end }) => text.slice(start, end))).toEqual(['f*ck', 'sh1t'])
})

test('words of the operator are found, and allowed ones are not', async () => {
  const own = await wordTest(['slur'], ['darn', 'Blöd'], ['Faggot'])
  const has = (text: string) => wordsIn(text, 0, own).map(({ category }) => category)
  expect(has('darn D4rn d.a.r.n blöd bloed')).toEqual(['profanity', 'profanity', 'profanity', 'profanity'])
  expect(has('faggot fuck')).toEqual([])
})

test('a stream is read as the whole text, for every way of cutting it', () => {
  const detection: Detection = {
    reach: longest,
    context: 2,
    scan: (text, _place, _call, from) =>
      wordsIn(text, from, word).map(({ start, end }) => ({
        start,
        end,
        label: 'x',
        action: 'replace',
        replacement: '-',
      })),
    open: (text, _call, from) => openFrom(text, from),
  }
  const parts = fc.constantFrom(
    'fuck',
    'f',
    'u',
    'c',
    'k',
    ' ',
    '  ',
    '*',
    '.',
    '-',
    'ing',
    'sh',
    'it',
    '𝒇',
    '\u0301',
    '😀',
    ',',
    'Scun',
    'thorpe',
    'a b ',
  )
  const text = fc.array(parts, { maxLength: 24 }).map((all) => all.join(''))
  fc.assert(
    fc.property(cutText(text), (pieces) => {
      expect(piecesThrough(pieces, [detection]).join('')).toBe(redactedWhole(pieces.join(''), [detection]))
    }),
    runs(500),
  )
})
