# SPDX-License-Identifier: GPL-3.0-or-later
domain ai.onnx.ml
*
  classlabels_int64s  the classes, where they are integers
  classlabels_ints  the classes, where they are integers
  classlabels_strings  the classes, where they are strings
  cats_int64s  the categories, where they are integers
  cats_strings  the categories, where they are strings
  post_transform  what scores go through, as SOFTMAX or LOGISTIC
ArrayFeatureExtractor
  X  (…, features): rows of features
  Y  int64: which features, counted from 0
  Z  (…, count of Y): these features of each row
Binarizer
  threshold  numbers above it become 1, all others 0
CastMap
  X  a map of integers to numbers or strings
  Y  its values, in the order of their keys
  cast_to  TO_FLOAT, TO_STRING or TO_INT64
  map_form  DENSE: values in a row; SPARSE: a key is a place in Y
  max_map  SPARSE: how long Y is
CategoryMapper
  X  strings or integers
  Y  the other of the two
  default_int64  what a string becomes that is no category
  default_string  what an integer becomes that is no category
  cats_int64s  integers of the categories, in their order
  cats_strings  strings of the categories, in their order
DictVectorizer
  X  a map
  Y  its values, at the places of their keys; else 0
  int64_vocabulary  the keys, in the order of Y
  string_vocabulary  the keys, in the order of Y
FeatureVectorizer
  X  tensors: (N, features)
  Y  all features, one behind the other
  inputdimensions  how many features each input has
Imputer
  replaced_value_float  what is replaced, among floats
  replaced_value_int64  what is replaced, among integers
  imputed_value_floats  what replaces it: one, or one per feature
  imputed_value_int64s  what replaces it: one, or one per feature
LabelEncoder
  X  the keys
  Y  their values
  classes_strings  version 1: strings that integers stand for
  default_int64  what stands for a key that is not known
  default_string  what stands for a key that is not known
  default_float  what stands for a key that is not known
  default_tensor  what stands for a key that is not known
  keys_floats  the keys
  keys_int64s  the keys
  keys_strings  the keys
  keys_tensor  the keys
  values_floats  a value per key
  values_int64s  a value per key
  values_strings  a value per key
  values_tensor  a value per key
LinearClassifier LinearRegressor
  X  (N, features)
  coefficients  weights: (classes or targets, features), flat
  intercepts  what is added per class or target
LinearClassifier SVMClassifier TreeEnsembleClassifier
  Y  the class of each row
  Z  a score per row and class
LinearClassifier
  multi_class  0: each class against the rest; 1: multinomial
LinearRegressor
  Y  (N, targets)
  targets  how many numbers it gives
Normalizer
  norm  what a row is divided by: MAX, L1 or L2
OneHotEncoder
  X  categories
  Y  1 at its category along a new last axis, else 0
  zeros  1: what is no category gives zeros; 0: it fails
Scaler
  offset  what is taken off each feature, first
  scale  factor of each feature, then
SVMClassifier SVMRegressor
  X  (N, features)
  coefficients  a factor per support vector; linear: per feature
  kernel_params  gamma, coef0 and degree of the kernel
  kernel_type  LINEAR, POLY, RBF or SIGMOID
  rho  what is added to sums over the support vectors
  support_vectors  the support vectors, flat; none: linear
SVMClassifier
  prob_a  slope from a score to a probability, per two classes
  prob_b  offset from a score to a probability, per two classes
  vectors_per_class  how many support vectors each class has
SVMRegressor
  Y  (N, 1)
  n_supports  how many support vectors there are; 0: linear
  one_class  1: gives 1 for inside and -1 for outside
TreeEnsembleClassifier TreeEnsembleRegressor TreeEnsemble
  X  (N, features)
  nodes_falsenodeids  where each node goes on if its test fails
  nodes_truenodeids  where each node goes on if its test holds
  nodes_featureids  the feature that each node tests
  nodes_hitrates  how often each node is come to; changes no result
  nodes_missing_value_tracks_true  per node: 1: NaN passes the test
TreeEnsembleClassifier TreeEnsembleRegressor
  nodes_hitrates_as_tensor  nodes_hitrates in double
  nodes_modes  the test of each node, as BRANCH_LEQ; or a leaf
  nodes_nodeids  number of each node within its tree
  nodes_treeids  the tree of each node
  nodes_values  what each node compares its feature with
  nodes_values_as_tensor  nodes_values in double
  base_values_as_tensor  base_values in double
TreeEnsembleClassifier
  base_values  score of each class before any tree
  class_ids  the class that each weight counts for
  class_nodeids  the leaf that each weight is of
  class_treeids  the tree that each weight is of
  class_weights  what a leaf adds to its class
  class_weights_as_tensor  class_weights in double
TreeEnsembleRegressor
  Y  (N, targets)
  base_values  value of each target before any tree
  target_ids  the target that each weight counts for
  target_nodeids  the leaf that each weight is of
  target_treeids  the tree that each weight is of
  target_weights  what a leaf adds to its target
  target_weights_as_tensor  target_weights in double
  aggregate_function  how trees are put together: SUM, AVERAGE, MIN, MAX
  n_targets  how many numbers it gives
TreeEnsemble
  Y  (N, targets)
  aggregate_function  trees put together: 0 mean, 1 sum, 2 min, 3 max
  leaf_targetids  the target that each leaf counts for
  leaf_weights  what each leaf adds to its target
  membership_values  sets of tests BRANCH_MEMBER, with NaN between them
  n_targets  how many numbers it gives
  nodes_falseleafs  per node: 1: nodes_falsenodeids is a leaf
  nodes_trueleafs  per node: 1: nodes_truenodeids is a leaf
  nodes_modes  per node: 0 <=, 1 <, 2 >=, 3 >, 4 ==, 5 !=, 6 member
  nodes_splits  what each node compares its feature with
  post_transform  0 none, 1 softmax, 2 logistic, 3 softmax zero, 4 probit
  tree_roots  the first node of each tree
ZipMap
  X  (N, classes): a number per class, as scores are
  Z  N maps, each from a class's label to its number
