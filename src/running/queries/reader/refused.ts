import { readNames } from './names.ts';

/** The functions that a reader must not call, and why. Grants cannot forbid them. */
export const REFUSED_FUNCTIONS = [
  {
    reason: 'it reads files',
    names: readNames(`
      catboostEvaluate evalMLMethod file naiveBayesClassifier naiveBayesClassifierWithAllProbs
      naiveBayesClassifierWithProb naiveBayesNgrams
    `),
  },
  {
    reason: 'it connects to other servers',
    names: readNames(`
      aiClassify aiEmbed aiExtract aiGenerate aiTranslate AIClassify AIExtract AIGenerate AITranslate generateSerialID
      hasColumnInTable
    `),
  },
  {
    reason: 'it is about the process or the machine',
    names: readNames(`
      addressToLine addressToLineWithInlines addressToSymbol aggThrow demangle filesystemAvailable filesystemCapacity
      filesystemUnreserved flameGraph getClientHTTPHeader getMacro getMaxTableNameLengthForDatabase getServerPort
      getServerSetting logTrace showCertificate
    `),
  },
  {
    reason: 'it is for ClickHouse itself',
    names: readNames(`
      fuzzQuery globalInIgnoreSet globalNotInIgnoreSet globalNotNullInIgnoreSet globalNullInIgnoreSet inIgnoreSet
      notInIgnoreSet notNullInIgnoreSet nullInIgnoreSet __actionName __applyFilter __bitBoolMaskAnd __bitBoolMaskOr
      __bitSwapLastTwo __bitWrapperFunc __getScalar __patchPartitionID __scalarSubqueryResult __toYearCalendarOnly
    `),
  },
] as const;

/** Refused as well. They take no arguments, so a column may have such a name: passing it to a function does nothing. */
export const REFUSED_FACTS = readNames(`
  chdb FQDN fullHostName getOSKernelVersion hasThreadFuzzer tcpPort tid transactionID transactionLatestSnapshot
  transactionOldestSnapshot zookeeperSessionUptime
`);
