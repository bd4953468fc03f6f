"""Prometheus answering with errors, or with something that is no answer."""

from harness.scripted_prometheus import failure, raw, scalar, vector

from .model import EXT, WEB, Case, Request, custom_rule

V = "<<.Series>>{<<.LabelMatchers>>}"
OK = '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"po":"a-1"},"value":[1700000000,"5"]}]}}'
BAD = {
    "bad_data": failure(400, "bad_data", "parse error"), "execution": failure(422, "execution", "too many"),
    "unavailable": failure(503, "unavailable", "starting"), "timeout": failure(503, "timeout", "slow"),
    "code_404": raw(404, "nothing here", "text/plain"), "code_401": raw(401, "who?", "text/plain"), "code_500": raw(500, OK),
    "code_502": raw(502, "<html>bad gateway</html>", "text/html"), "code_204": raw(204, ""), "code_201": raw(201, OK),
    "ok_body_in_400": raw(400, OK), "ok_body_in_503": raw(503, OK), "garbage": raw(200, "\x00{nonsense"), "html": raw(200, "<html>", "text/html"),
    "nothing": raw(200, ""), "null": raw(200, "null"), "array": raw(200, "[]"), "no_data": raw(200, '{"status":"success"}'),
    "odd_status": raw(200, OK.replace("success", "partial")), "error_in_200": raw(200, '{"status":"error","errorType":"x","error":"y"}'),
    "truncated": raw(200, OK[:-30]), "trailing": raw(200, OK + " x"), "wrong_type": raw(200, OK.replace("vector", "vektor")),
    "value_number": raw(200, OK.replace('"5"', "5")), "value_text": raw(200, OK.replace('"5"', '"five"')),
    "value_short": raw(200, OK.replace(',"5"', "")), "metric_missing": raw(200, OK.replace('"metric":{"po":"a-1"},', "")),
    "label_number": raw(200, OK.replace('"a-1"', "1")), "text_plain": raw(200, OK, "text/plain"), "matrix": raw(
        200, '{"status":"success","data":{"resultType":"matrix","result":[]}}'), "string": raw(
            200, '{"status":"success","data":{"resultType":"string","result":[1,"x"]}}'), "scalar": scalar(3),
    "result_null": raw(200, '{"status":"success","data":{"resultType":"vector","result":null}}'), "empty": vector(),
    "warnings": raw(200, OK.replace('"data"', '"warnings":["w"],"data"')),
    "histogram": raw(200, OK.replace('"value":[1700000000,"5"]', '"histogram":[1700000000,{"count":"1","sum":"2","buckets":[]}]')),
    "no_utf8": raw(200, OK.encode().replace(b'"po"', b'"x":"\xff\xfe","po"')), "no_utf8_name": raw(200, OK.encode().replace(b"a-1", b"a-1\xff")),
    "extra_fields": raw(200, OK.replace('"metric"', '"new":{"a":[1]},"metric"')), "fine": raw(200, OK),
    "hex_value": raw(200, OK.replace('"5"', '"0x10"')), "plus_value": raw(200, OK.replace('"5"', '"+5"')),
    "grouped": raw(200, OK.replace('"5"', '"1_0"')), "time_text": raw(200, OK.replace("1700000000", '"now"')),
    "grouped_among_others": raw(200, OK.replace('"5"]}', '"1_0"]},{"metric":{"po":"a-2"},"value":[1700000000,"6"]}')),
    "time_exponent": raw(200, OK.replace("1700000000", "1.7e9")), "duplicate_key": raw(200, OK.replace('{"po":"a-1"}', '{"po":"b","po":"a-1"}')),
}
CONFIG = {"rules": [custom_rule(n, V) for n in BAD],
          "externalRules": [{"seriesQuery": n, "metricsQuery": V, "resources": {"namespaced": False}} for n in BAD]}
# Answers that no Prometheus writes, where the original's parser is strict or lenient by accident.
ODD = {"trailing", "value_short", "hex_value", "time_exponent"}
GROUPED = {"grouped", "grouped_among_others"}
CASES = [Case("prometheus_answers_badly", CONFIG, [
    Request(f"{path}/{n}", differs="answers-that-no-prometheus-writes" if n in ODD else
            "values-with-digit-groups-are-left-out" if n in GROUPED else "")
    for path in (WEB + "/pods/a-1", EXT) for n in BAD],
              ("custom.metrics.k8s.io/v1beta2", "pods/fine"),
              {n: [{"__name__": n, "ns": "web", "po": "a-1"}] for n in BAD},
              {**{f'{n}{{ns="web",po="a-1"}}': a for n, a in BAD.items()}, **{f"{n}{{}}": a for n, a in BAD.items()}})]
