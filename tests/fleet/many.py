# SPDX-License-Identifier: GPL-3.0-or-later
"""many.py FILE.fleet [MODELS [CAUSES]]: a made-up fleet, as large as wanted, whose models are not there.
Its tables are those of the program, read from a fleet that it makes of nothing."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

OPERATORS = ['Resize', 'Clip', 'LeakyRelu', 'Softmax', 'Conv', 'Gemm', 'LayerNormalization', 'Pow',
             'AveragePool', 'ReduceMean', 'Gelu', 'Einsum']


def culprit(index, operator, variant):
    return {
        'index': index, 'name': f'/encoder/layer.{index}/{operator.lower()}', 'op_type': operator,
        'domain': '', 'attributes': ['alpha = 0.3', 'mode = "nearest"'], 'types': ['float', None],
        'value': f'v{index}', 'kind': 'introduced', 'error': 0.001 * (index + 1),
        'reaches_output': True, 'confidence': 'high',
        'explanations': [{'variant': f'attribute/{variant}', 'fit': 'exact',
                          'text': f'as if attribute {variant} were ignored'}],
        'text': 'It behaves otherwise. ' * 120}


def report(i, culprits):
    return {'schema': 1, 'target': 'made:up', 'reference': 'cpu', 'tolerance': 'noise',
            'verdict': 'diverges' if culprits else 'pass', 'complete': True, 'failure': None,
            'pieces': None, 'signature': f'fail output=y{i}', 'target_runs_at_all': True,
            'culprits': culprits, 'strategy': [{'step': 'plain', 'why': 'because ' * 150}]}


def tables(program):
    """The statements that make the tables, as the program has them."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'a.onnx'), 'wb') as file:
            file.write(b'no model')
        path = os.path.join(folder, 'a.fleet')
        subprocess.run([program, 'fleet', folder, '--target', 'cpu', '--fleet', path],
                       check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return [row[0] for row in sqlite3.connect(path).execute('SELECT sql FROM sqlite_master'
                                                                ' WHERE sql IS NOT NULL')]


def main():
    path = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    causes = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    file = sqlite3.connect(path)
    for sql in tables(os.environ.get('ONNXDBG', './onnxdbg')):
        file.execute(sql)
    file.execute("INSERT INTO fleet VALUES ('made:up', '--target=cpu', '/nowhere/zoo')")
    for i in range(n):
        fails = i % 3 != 0
        cause = (i - i // 3) * 7 % causes
        found = [culprit(3 + i % 40, OPERATORS[cause % len(OPERATORS)],
                         f'a{cause // len(OPERATORS)}')] if fails else []
        if i % 25 == 1:
            other = (cause + 1) % causes
            found.append(culprit(50, OPERATORS[other % len(OPERATORS)],
                                 f'a{other // len(OPERATORS)}'))
        file.execute('INSERT INTO member VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
                     (f'vision/family-{i % 17}/model-{i:04}', f'zoo/model-{i:04}.onnx', 1000 + i, i,
                      2 if fails else 1, 'diverges' if found else 'pass', 1.5 + i % 90, i % 20,
                      None, json.dumps(report(i, found))))
    file.commit()


main()
