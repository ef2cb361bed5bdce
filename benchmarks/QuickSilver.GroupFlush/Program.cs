using System.Globalization;
using QuickSilver.GroupFlush;

// How long a group waits for a new view while its members send: after a join, after an orderly leave, and after a member failed, from the
// moment at which the service removed it. Each member is a process, on the loopback interface:
//
//   GroupFlush [--members N] [--rounds N] [--bytes N] [--load PART]
//
// It first lets all members send as much as they can, and then each its part of that. In each round a new process joins and leaves twice,
// joins a third time and is killed. The result is one line of JSON; times are in milliseconds. The program starts its members as
//
//   GroupFlush member SERVICE BYTES
if (args is ["member", var service, var bytes])
{
    return await Member.RunAsync(service, int.Parse(bytes, CultureInfo.InvariantCulture));
}

var values = args.Chunk(2).ToDictionary(static pair => pair[0], static pair => double.Parse(pair[1], CultureInfo.InvariantCulture));
await using var rounds = await Rounds.BeginAsync(
    (int)values.GetValueOrDefault("--members", 8),
    (int)values.GetValueOrDefault("--bytes", 1000),
    values.GetValueOrDefault("--load", 0.5));
try
{
    await rounds.RunAsync((int)values.GetValueOrDefault("--rounds", 50));
    return 0;
}
catch (TimeoutException exception)
{
    // As when the service has removed a member that stays.
    Console.Error.WriteLine(exception.Message);
    return 1;
}
finally
{
    Console.Out.WriteLine(rounds.Json());
}
