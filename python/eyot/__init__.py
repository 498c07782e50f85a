"""Kernel learning with the Isolation Kernel: anomalies, streams and bags.

Estimators honour scikit-learn's contract. ``eyot.pyod`` has the detectors with PyOD's methods, ``eyot.river`` the
learners of streams as River's models, ``eyot.plot`` the pictures. Models are the files of the command line.
"""

from __future__ import annotations

from . import _eyot
from ._files import from_bytes, load
from .classify import IKClassifier
from .detect import (
    GaussianMeanDetector,
    IDKDetector,
    INNEDetector,
    IsolationForestDetector,
    OneClassSVMDetector,
)
from .learn import (
    IKOnlineClassifier,
    IKOnlineRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RRFClassifier,
    RRFRegressor,
)
from .map import IsolationKernel
from .sets import BagClassifier, GroupDetector, ISKClassifier

__version__: str = _eyot.VERSION

__all__ = [
    "BagClassifier",
    "GaussianMeanDetector",
    "GroupDetector",
    "IDKDetector",
    "IKClassifier",
    "IKOnlineClassifier",
    "IKOnlineRegressor",
    "INNEDetector",
    "ISKClassifier",
    "IsolationForestDetector",
    "IsolationKernel",
    "OneClassSVMDetector",
    "OnlineKernelClassifier",
    "OnlineKernelRegressor",
    "RRFClassifier",
    "RRFRegressor",
    "from_bytes",
    "load",
]
