namespace LivePrices;

internal static class Page
{
    public const string Html = """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>Live prices</title>
        <style>body { font: 16px system-ui; margin: 3rem } td { padding: .2rem 1rem } td + td { text-align: right }</style>
        <h1>Live prices</h1>
        <table id="prices"></table>
        <script>
          const rows = {};
          new EventSource('/prices').onmessage = event => {
            const price = JSON.parse(event.data);
            const row = rows[price.symbol] ??= document.getElementById('prices').insertRow();
            row.replaceChildren(...[price.symbol, price.value.toFixed(2)].map(text => {
              const cell = document.createElement('td');
              cell.textContent = text;
              return cell;
            }));
          };
        </script>
        """;
}
