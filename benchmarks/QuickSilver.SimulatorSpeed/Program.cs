using System.Globalization;
using QuickSilver.SimulatorSpeed;

// How fast the simulator is, and what a node costs it:
//   dotnet run -c Release --project benchmarks/QuickSilver.SimulatorSpeed -- [--nodes 200] [--bytes 100] [--rate 0]
//       [--seconds 5] [--rounds 3]
//   dotnet run -c Release --project benchmarks/QuickSilver.SimulatorSpeed -- --idle [--nodes 200]
int nodes = Option("--nodes", 200);
int bytes = Option("--bytes", 100);
int rate = Option("--rate", 0);
int seconds = Option("--seconds", 5);
int rounds = Option("--rounds", 3);
if (args.Contains("--idle"))
{
    Console.WriteLine(IdleNodes.Measure(nodes));
    return;
}

var speed = new Deliveries(nodes, bytes, rate, TimeSpan.FromSeconds(seconds));
for (int i = 0; i < rounds; i++)
{
    Console.WriteLine(speed.Measure());
}

int Option(string name, int otherwise)
{
    int at = Array.IndexOf(args, name);
    return at < 0 ? otherwise : int.Parse(args[at + 1], CultureInfo.InvariantCulture);
}
