import { readNames } from './names.ts';

/** The table functions that a reader may call: they read nothing but their arguments. */
export const TABLE_FUNCTIONS = readNames(`
  generateRandom generateSeries generate_series null numbers numbers_mt primes SQLStandardValues values view
  viewIfPermitted
`);

/** The others: files, other servers, tables by pattern, statements as text, the inside of tables. */
export const REFUSED_TABLE_FUNCTIONS = readNames(`
  azureBlobStorage azureBlobStorageCluster cluster clusterAllReplicas cosn deltaLake deltaLakeAzure deltaLakeAzureCluster
  deltaLakeCluster deltaLakeLocal deltaLakeS3 deltaLakeS3Cluster dictionary eval executable file fileCluster filesystem
  format fuzzJSON fuzzQuery gcs hdfs hdfsCluster hudi hudiCluster iceberg icebergAzure icebergAzureCluster
  icebergCluster icebergHDFS icebergHDFSCluster icebergLocal icebergLocalCluster icebergS3 icebergS3Cluster input jdbc
  loop merge mergeTreeAnalyzeIndexes mergeTreeAnalyzeIndexesUUID mergeTreeIndex mergeTreeProjection mergeTreeTextIndex
  mongodb mysql odbc oss paimon paimonAzure paimonAzureCluster paimonCluster paimonHDFS paimonHDFSCluster paimonLocal
  paimonS3 paimonS3Cluster postgresql prometheusQuery prometheusQueryRange redis remote remoteSecure s3 s3Cluster sqlite
  timeSeriesData timeSeriesMetrics timeSeriesSamples timeSeriesSelector timeSeriesTags url urlCluster viewExplain
  ytsaurus zeros zeros_mt
`);
