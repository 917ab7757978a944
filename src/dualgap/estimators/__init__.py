"""scikit-learn's linear models with a certificate: parameters and labels become a Problem, nothing numerical here."""

from __future__ import annotations

from dualgap.estimators.linear_svc import LinearSVC
from dualgap.estimators.linear_svr import LinearSVR
from dualgap.estimators.logistic_regression import LogisticRegression
from dualgap.estimators.outliers import LinearOneClassSVM, LinearSVDD
from dualgap.estimators.pegasos import PegasosClassifier

__all__ = [
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVDD",
    "LinearSVR",
    "LogisticRegression",
    "PegasosClassifier",
]
