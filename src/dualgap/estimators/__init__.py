"""scikit-learn's models with a certificate: parameters and labels become a Problem, nothing numerical here."""

from __future__ import annotations

from dualgap.estimators.approximate import kernel_classifier
from dualgap.estimators.linear_svc import LinearSVC
from dualgap.estimators.linear_svr import LinearSVR
from dualgap.estimators.logistic_regression import LogisticRegression
from dualgap.estimators.one_class_svm import SVDD, OneClassSVM
from dualgap.estimators.outliers import LinearOneClassSVM, LinearSVDD
from dualgap.estimators.pegasos import PegasosClassifier
from dualgap.estimators.svc import SVC, NuSVC
from dualgap.estimators.svr import SVR, NuSVR

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVDD",
    "LinearSVR",
    "LogisticRegression",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosClassifier",
    "kernel_classifier",
]
