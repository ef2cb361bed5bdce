// A user's program, built against the package alone and run as two processes: "old" has the types of the first version,
// "new" those of the second. For each type both publish one value and read both. A third, "hold", has all topics open until its input ends.
using QuickSilver;

bool isOld = args[0] != "new";
using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(90));
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] }, cancellationToken: limit.Token);

// What the other process is refused must be open here before it has heard anything of this one.
await using var strict = isOld ? await node.OpenTopicAsync<Old.Order>("strict", cancellationToken: limit.Token) : null;

Exchange[] exchanges = [.. Samples.All, new Exchange<Wide>("wide", Wide.Sample()), .. isOld ? Versions.AsOld : Versions.AsNew];
if (args[0] == "hold")
{
    await Task.WhenAll(exchanges.Select(exchange => exchange.OpenAsync(node, limit.Token)));
    Console.WriteLine("open");
    await Console.In.ReadToEndAsync();
    return 0;
}

await Task.WhenAll(exchanges.Select(exchange => exchange.RunAsync(node, limit.Token)));
if (!isOld)
{
    await Refusals.CheckAsync(node, limit.Token);
}

// Neither leaves before the other has all.
await new Exchange<string>("finished", args[0], isOld ? "new" : "old").RunAsync(node, limit.Token);
Console.WriteLine($"{exchanges.Length} types were exchanged.");
await node.DrainAsync(limit.Token);
return 0;
